/** A promise `opened` that resolves when `open` is called. */
export function deferred() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
