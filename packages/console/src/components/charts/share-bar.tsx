import { formatShare } from '../../format/amount.js'

const WIDTH = 80
const HEIGHT = 8

/** A part of a whole as a bar. @param share 0 to 1; undefined draws the whole alone */
export function ShareBar({ share, label }: { readonly share: number | undefined; readonly label: string }) {
  const words = `${label}: ${share === undefined ? 'not known' : formatShare(share)}`
  return (
    <svg
      class="share-bar"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={words}
    >
      <title>{words}</title>
      <rect class="share-whole" width={WIDTH} height={HEIGHT} rx={2} />
      {share !== undefined && share > 0 && (
        <rect class="share-part" width={Math.max(2, Math.min(1, share) * WIDTH)} height={HEIGHT} rx={2} />
      )}
    </svg>
  )
}
