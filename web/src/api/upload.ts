// Uploads with progress. fetch does not report how much of a body was sent.

/** Progress receives the part of a body that was sent, from 0 to 1. */
export type Progress = (sent: number) => void;

/** upload sends a form and reports its progress. Like fetch, it rejects if there is no answer. */
export function upload(
  at: string,
  init: { method: string; headers: Headers; body: FormData; signal?: AbortSignal },
  progress: Progress,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(init.method, at);
    init.headers.forEach((value, name) => request.setRequestHeader(name, value));
    request.upload.onprogress = ({ lengthComputable, loaded, total }) =>
      lengthComputable && progress(loaded / total);
    request.onload = () => {
      const headers = new Headers();
      const version = request.getResponseHeader("ETag");
      if (version) headers.set("ETag", version);
      resolve(new Response(request.responseText, { status: request.status, headers }));
    };
    request.onerror = () => reject(new TypeError("The upload failed"));
    request.onabort = () => reject(new DOMException("The upload was aborted", "AbortError"));
    init.signal?.addEventListener("abort", () => request.abort());
    request.send(init.body);
  });
}
