interface SegmentsProps {
  readonly label: string
  /** The chosen one has no other name than its text. */
  readonly items: readonly (readonly [text: string, href: string])[]
  readonly chosen: string
}

/** Links of which one is chosen. */
export const Segments = ({ label, items, chosen }: SegmentsProps) => (
  <nav class="segments" aria-label={label}>
    {items.map(([text, href]) => (
      <a key={text} href={href} aria-current={text === chosen ? 'true' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
