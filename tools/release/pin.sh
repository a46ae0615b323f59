#!/bin/sh
# pin.sh FILE... adds the digest to each image of another project in the files. The tag stays, and the digest is the current one of the
# index for all architectures. The workflow release runs it, so that nobody types digests. It requires skopeo. It knows three forms:
# `{name: NAME, newTag: TAG}` of kustomize, `value: NAME:TAG` of a patch, and `image: NAME:TAG` of compose. An image that has a digest gets
# the current one of its tag. Images of Coffer are in other files, or have variables.
set -eu
[ $# -gt 0 ] || { echo "usage: pin.sh FILE..." >&2; exit 2; }
manifest=$(mktemp)
trap 'rm -f "$manifest"' EXIT
reference='[a-z0-9][a-z0-9./-]*'
tag='[A-Za-z0-9_.-]+'
for file in "$@"; do
	sed -Ei -e "s/(newTag: $tag), digest: sha256:[0-9a-f]+/\1/" -e "s/((value|image): $reference:$tag)@sha256:[0-9a-f]+/\1/" "$file"
	images=$(sed -nE -e "s/.*\{name: ($reference), newTag: ($tag)\}.*/\1:\2/p" \
		-e "s/^ *-? *\{?.*(value|image): ($reference:$tag)\}?\$/\2/p" "$file" | sort -u)
	[ -n "$images" ] || { echo "$file has no image" >&2; exit 1; }
	for image in $images; do
		skopeo inspect --raw "docker://$image" >"$manifest"
		digest=sha256:$(sha256sum "$manifest" | cut -d ' ' -f 1)
		sed -Ei -e "s|(\{name: ${image%:*}, newTag: ${image##*:})\}|\1, digest: $digest}|" \
			-e "s|((value\|image): $image)(\}?)\$|\1@$digest\3|" "$file"
		echo "$image@$digest"
	done
done
