import type { GetQuoteRecordResponse } from '../../../../gen/aggregator/v1/quote_pb.js'
import { isExactInput, readAttempts } from '../data/auction/auction.js'
import { hrefHere } from '../data/chains.js'
import { Ranking } from './ranking.js'

interface RecordProps {
  readonly record: GetQuoteRecordResponse
  /** Whose offer was taken. */
  readonly taken?: string | undefined
}

/** The ranking of all solvers of a record. @param isOpen whether its offers can still be taken: then what solvers have paid counts */
export const RecordRanking = ({
  record,
  taken,
  isOpen = false,
}: RecordProps & { readonly isOpen?: boolean }) => (
  <Ranking
    attempts={readAttempts(record)}
    chainId={record.chainId}
    token={(isExactInput(record) ? record.request?.outputToken : record.request?.inputToken) ?? ''}
    taken={taken}
    isRecord
    isOpen={isOpen}
  />
)

/** The auction that an offer comes from. */
export function WhyOffer({ record, taken }: RecordProps) {
  const isBest = record.solvers.some(({ rank, solver }) => rank === 1 && solver === taken)
  return (
    <section class="panel auction" aria-labelledby="why-title">
      <div class="panel-head">
        <h2 id="why-title">Why this offer: {isBest ? 'the best price' : 'your choice'}</h2>
        <a href={hrefHere('quote', record.quoteId)}>Record</a>
      </div>
      <RecordRanking record={record} taken={taken} />
    </section>
  )
}
