#!/bin/sh
# install.sh [database|bench|test|web] installs the packages that Coffer needs, if they are missing: the PostgreSQL
# server, tesseract with its languages, and the tools of poppler and libheif. With `database` it installs PostgreSQL only.
# With `test` it also installs hledger and beancount for the tests of exports. With `bench` it also installs wrk, the load
# generator. With `web` it also installs Chromium without windows for the tests of the console, and requires Node.
set -eu
has() { command -v "$1" >/dev/null 2>&1; }
any() { for f; do [ ! -x "$f" ] || return 0; done; return 1; }

has go || { echo "Coffer needs Go 1.26 or later: install it from https://go.dev/dl/" >&2; exit 1; }
deb= brew=
if [ -z "${PG_BIN:-}" ] && ! has initdb && ! any "$(pg_config --bindir 2>/dev/null)/initdb" /usr/lib/postgresql/*/bin/initdb \
	/usr/pgsql-*/bin/initdb /opt/homebrew/opt/postgresql*/bin/initdb /usr/local/opt/postgresql*/bin/initdb \
	/Applications/Postgres.app/Contents/Versions/*/bin/initdb; then deb=postgresql brew=postgresql@17; fi
if [ "${1:-}" != database ]; then
	langs=$(tesseract --list-langs 2>/dev/null) || { deb="$deb tesseract-ocr" brew="$brew tesseract"; }
	for lang in eng deu fra spa ita; do
		case $langs in *$lang*) ;; *) deb="$deb tesseract-ocr-$lang"; case $brew in *lang*) ;; *) brew="$brew tesseract-lang" ;; esac ;; esac
	done
	for tool in pdftotext pdftoppm pdfinfo; do
		has $tool || { deb="$deb poppler-utils" brew="$brew poppler"; break; }
	done
	has heif-convert || { deb="$deb libheif-examples" brew="$brew libheif"; }
fi
if [ "${1:-}" = test ]; then
	has hledger || { deb="$deb hledger" brew="$brew hledger"; }
	has bean-check || { deb="$deb beancount" brew="$brew beancount"; }
fi
[ "${1:-}" != bench ] || has wrk || { deb="$deb wrk" brew="$brew wrk"; }
if [ "${1:-}" = web ]; then
	has npm && node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
		{ echo "The console needs Node 20.19 or later with npm: install it from https://nodejs.org/" >&2; exit 1; }
	has chromium-headless-shell || has chromium || { deb="$deb chromium-headless-shell fonts-noto-color-emoji" brew="$brew chromium"; }
fi
[ -n "$deb" ] || exit 0

deb=${deb# } brew=${brew# }
if has apt-get; then command="apt-get install -y --no-install-recommends $deb"; refresh="apt-get update"
elif has brew; then command="brew install $brew"; refresh=true
else echo "Packages for Coffer are missing. On Debian they are: $deb. Install them and try again." >&2; exit 1; fi
as="env DEBIAN_FRONTEND=noninteractive"
if has apt-get && [ "$(id -u)" != 0 ]; then
	{ has sudo && { sudo -n true 2>/dev/null || [ -t 0 ]; }; } || { echo "Packages for Coffer are missing. As root, run:  $command" >&2; exit 1; }
	as="sudo $as"
fi
echo "Installing missing packages: $command"
# If it fails, the lists of packages may be missing or outdated.
$as $command || { $as $refresh && $as $command; }
