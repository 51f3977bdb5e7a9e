/** Takes out the line breaks that are there for readers of the source; paragraphs and list items keep theirs. */
export function unwrap(text: string): string {
  return text.trim().replaceAll(/(?<!\n)\n(?!\n|- )\s*/g, ' ')
}
