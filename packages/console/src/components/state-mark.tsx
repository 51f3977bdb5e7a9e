/** What a state means for the reader. Shape and word say the same as the colour. */
const TONES = {
  good: '●',
  bad: '■',
  waiting: '◐',
  neutral: '○',
} as const
export type Tone = keyof typeof TONES

/** A state as a word with a shape. */
export function StateMark({
  word,
  tone,
  title,
}: {
  readonly word: string
  readonly tone: Tone
  readonly title?: string | undefined
}) {
  return (
    <span class={`state state-${tone}`} title={title}>
      <span aria-hidden="true">{TONES[tone]}</span> {word.charAt(0).toUpperCase() + word.slice(1)}
    </span>
  )
}
