import type { PairSummary } from '../../../../../gen/aggregator/v1/chain_pb.js'
import { Fact } from '../../components/facts.js'
import { formatFill } from '../../components/order-rows.js'
import { Amount } from '../../components/token-amount.js'
import { group } from '../../format/amount.js'

/** What a pair has traded in the last day. */
export const PairFacts = ({ pair }: { readonly pair: PairSummary }) => (
  <>
    <Fact name="Volume, 24 h">
      <Amount
        chainId={pair.destinationChainId}
        address={pair.outputToken}
        amount={pair.outputVolume24h}
        isShort
      />
    </Fact>
    <Fact name="Orders filled, 24 h">{group(String(pair.orders24h))}</Fact>
    <Fact name="Usual time to fill">
      {pair.medianFillMs24h === undefined ? '–' : formatFill(Number(pair.medianFillMs24h))}
    </Fact>
  </>
)
