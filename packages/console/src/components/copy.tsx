import { useEffect, useState } from 'preact/hooks'

const SHOWN_MS = 1200

/** A button that copies a text, and says so. */
export function Copy({ text, label }: { readonly text: string; readonly label: string }) {
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
    <button type="button" class="copy" title={`Copy ${label}`} aria-label={`Copy ${label}`} onClick={copy}>
      {isCopied ? '✓' : '⧉'}
      <span class="visually-hidden" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  )
}
