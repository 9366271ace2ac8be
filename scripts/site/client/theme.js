// Runs before the page is drawn, so that it never flashes in the other colors.
{
  let theme = null;
  try {
    theme = localStorage.getItem('theme');
  } catch {
    // Storage is disabled: the system decides.
  }
  if (theme) document.documentElement.dataset.theme = theme;
}
