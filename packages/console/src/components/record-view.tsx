import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { isExactInput, readAttempts, surplusBps } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { Bps, Ranking } from './ranking.js'
import { Amount } from './token-amount.js'

interface RecordProps {
  readonly record: GetQuoteRecordResponse
}

/** The token of the side that solvers compete on. */
const tokenOfRecord = ({ request }: GetQuoteRecordResponse) =>
  (isExactInput({ request }) ? request?.outputToken : request?.inputToken) ?? ''

/** The ranking of all solvers of a record. @param isOpen whether its offers can still be taken: then what solvers have paid counts */
export const RecordRanking = ({ record, isOpen = false }: RecordProps & { readonly isOpen?: boolean }) => (
  <Ranking
    attempts={readAttempts(record)}
    chainId={record.chainId}
    token={tokenOfRecord(record)}
    isRecord={!isOpen}
  />
)

/** The auction that an offer comes from. */
export function WhyOffer({ record }: RecordProps) {
  return (
    <section class="panel auction" aria-labelledby="why-title">
      <div class="panel-head">
        <h2 id="why-title">Why this offer</h2>
        <a href={hrefHere('quote', record.quoteId)}>Record</a>
      </div>
      <RecordRanking record={record} />
    </section>
  )
}

/** How much better the best offer was than the next one, in basis points and in the token. */
export function Surplus({ record }: RecordProps) {
  const attempts = readAttempts(record)
  const bps = surplusBps(attempts)
  const [best, next] = [1, 2].map((rank) => attempts.find((attempt) => attempt.rank === rank)?.amount)
  if (bps === undefined || best === undefined || next === undefined) return null
  const gained = best > next ? best - next : next - best
  return (
    <>
      <Bps bps={bps} /> · <Amount chainId={record.chainId} address={tokenOfRecord(record)} amount={gained} />
    </>
  )
}
