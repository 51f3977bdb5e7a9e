import type { MessageSigner, OwnResult } from '@quote-aggregator/client'
import { type Finding, pass, warn } from './report.js'

/** An instance at which the solver is registered, and the key that reads its own results there. */
export interface StandingSource {
  readonly url: string
  readonly signer: MessageSigner
  readonly chainId: number
  readonly protocolName: string
}

/** The gap of a solver without a valid offer, in basis points. */
const NO_OFFER = 10_000

/** Reads what an instance has learned of the solver (docs/decisions.md, D30). @throws AggregatorError */
export async function readStanding({ url, signer, ...terms }: StandingSource): Promise<Finding> {
  const { createAggregatorClient, signOwnResults } = await import('@quote-aggregator/client')
  const signed = await signOwnResults(signer, { ...terms, audience: url })
  const { results } = await createAggregatorClient({ baseUrl: url }).listOwnResults(signed, { pageSize: 200 })
  return judgeStanding(results)
}

/** Judges the newest result of each pair. @param results newest first */
export function judgeStanding(results: readonly OwnResult[]): Finding {
  const newest = new Map<string, OwnResult['result']>()
  for (const { request, result } of results) {
    const pair = [
      request.inputToken,
      request.outputToken,
      request.orderType,
      String(request.amount).length,
    ].join()
    if (result.isWaitedFor !== undefined && !newest.has(pair)) newest.set(pair, result)
  }
  const pairs = [...newest.values()]
  const unwaited = pairs.filter(({ isWaitedFor }) => isWaitedFor === false).length
  const unranked = pairs.filter(({ gapBps }) => gapBps === NO_OFFER).length
  if (pairs.length === 0) return pass('The instance has no result of yours with your standing yet.')
  const of = `of ${pairs.length} pairs, by your newest results`
  if (unwaited > 0)
    return warn(
      `Quotes do not wait for you in ${unwaited} ${of}. Answer within the soft deadline, 500 ms by default, or offer at least 1 basis point more than quicker solvers.`,
    )
  if (unranked > 0)
    return warn(
      `You have no rank in ${unranked} ${of}: you are asked there in turns only. Make valid offers.`,
    )
  return pass(`Quotes wait for you in all ${of}.`)
}
