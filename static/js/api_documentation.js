// The API's documentation, read from its schema; what is tried out goes to this site as the person who is signed in.
const place = document.getElementById("api-documentation");
const csrfToken = () => /(?:^|; )(?:__Host-)?csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? "";

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: "list",
  validatorUrl: null,
  onComplete: () => place.querySelector("main")?.setAttribute("role", "group"), // of a page that has a main part
  requestInterceptor: (request) => {
    if (request.method && request.method !== "GET") request.headers["X-CSRFToken"] = csrfToken();
    return request;
  },
});
