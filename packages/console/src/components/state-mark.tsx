/** What a state means for the reader. Shape and word say the same as the colour. */
const TONES = { good: '●', bad: '■', back: '↺', waiting: '◐', neutral: '○', none: '×' } as const
export type Tone = keyof typeof TONES

/** A state as a word with a shape. */
export function StateMark({ word, tone }: { readonly word: string; readonly tone: Tone }) {
  return (
    <span class={`state state-${tone}`}>
      <span aria-hidden="true">{TONES[tone]}</span> {word.charAt(0).toUpperCase() + word.slice(1)}
    </span>
  )
}
