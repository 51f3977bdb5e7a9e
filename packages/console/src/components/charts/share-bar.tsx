import { formatShare } from '../../format/amount.js'

/** A part of a whole as a bar. @param share 0 to 1; undefined draws the whole alone */
export function ShareBar({ share, label }: { readonly share: number | undefined; readonly label: string }) {
  const words = `${label}: ${share === undefined ? 'not known' : formatShare(share)}`
  return (
    <span class="share-bar" role="img" aria-label={words} title={words} style={{ '--share': share ?? 0 }} />
  )
}
