// On the page that is shown without a token: a reload of the lab finds the token where the lab has
// put it. Taken out on the way, so that one that is known no more is tried once.

try {
  const token = sessionStorage.getItem("kata-lab-token");
  sessionStorage.removeItem("kata-lab-token");
  if (token) location.replace(`/?token=${encodeURIComponent(token)}${location.hash}`);
} catch {
  // No storage, no reload: the words stay.
}
