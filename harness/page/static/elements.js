// Elements of a page: those that are there, and new ones.

export const element = (id) => document.getElementById(id);

export function made(name, text = "", className = "") {
  const one = document.createElement(name);
  one.textContent = text;
  if (className) one.className = className;
  return one;
}
