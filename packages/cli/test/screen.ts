/** The sequences that the command line writes: cursor up, erase to the end of the screen, and styles. */
const SEQUENCE = new RegExp(`${'\x1b'}\\[(\\d*)([AJm])`, 'y')

/** What a terminal has shown after a text, which it breaks at its width. The cursor does not go above its screen. */
export function screenOf(text: string, columns: number, height: number): string[] {
  let rows = ['']
  let row = 0
  const write = (character: string) => {
    if (rows[row]?.length === columns) feed()
    rows[row] = `${rows[row]}${character}`
  }
  const feed = () => {
    row++
    rows[row] ??= ''
  }
  for (let index = 0; index < text.length; ) {
    SEQUENCE.lastIndex = index
    const [whole = '', count, name] = SEQUENCE.exec(text) ?? []
    if (name === 'A') row = Math.max(rows.length - height, 0, row - Number(count))
    if (name === 'J') rows = [...rows.slice(0, row), '']
    const character = text[index] ?? ''
    if (whole === '' && character === '\n') feed()
    else if (whole === '') write(character)
    index += whole.length || 1
  }
  return rows
}
