import { useEffect, useState } from 'preact/hooks'

const SHOWN_MS = 1200

interface CopyProps {
  readonly text: string
  readonly label: string
  /** Says what it copies in words. */
  readonly isLarge?: boolean
}

/** A button that copies a text, and says so. */
export function Copy({ text, label, isLarge = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    )
  return (
    <button
      type="button"
      class={isLarge ? 'copy-large' : 'copy'}
      title={`Copy ${label}`}
      aria-label={`Copy ${label}`}
      onClick={copy}
    >
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {isCopied ? <path d="M2 6.5l2.5 2.5 5.5-6" /> : <path d="M4 4h6.5v6.5H4zM8 4V1.5H1.5V8H4" />}
      </svg>
      {isLarge && `Copy ${label}`}
      <span class="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}
