// Elements of a page: found by their id, or made.

export const element = (id) => document.getElementById(id);

export function made(name, text = "", className = "") {
  const created = document.createElement(name);
  created.textContent = text;
  if (className) created.className = className;
  return created;
}
