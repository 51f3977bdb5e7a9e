export const SEARCH_ID = 'search'

/** Listens for `/`, which leads to the search. */
export function listenForShortcuts(): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement
    const isModified = event.metaKey || event.ctrlKey || event.altKey
    if (event.key !== '/' || isModified || target.closest('input, textarea, select, dialog') !== null) return
    event.preventDefault()
    document.getElementById(SEARCH_ID)?.focus()
  })
}
