// On the page for requests without a token: reloads the lab with the token in the storage of this
// tab. The token is removed first, so that an expired one is tried only once.

try {
  const token = sessionStorage.getItem("kata-lab-token");
  sessionStorage.removeItem("kata-lab-token");
  if (token) location.replace(`/?token=${encodeURIComponent(token)}${location.hash}`);
} catch {
  // Without storage there is no reload, and the text stays.
}
