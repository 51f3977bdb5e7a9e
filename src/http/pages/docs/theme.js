// Turns Swagger UI's own dark colours on and off with the theme of the system, before the page is shown.
const dark = matchMedia('(prefers-color-scheme: dark)')
const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', apply)
apply()
