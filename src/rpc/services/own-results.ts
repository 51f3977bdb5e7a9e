import type { MessageInitShape } from '@bufbuild/protobuf'
import { QuoteKind } from '../../../gen/aggregator/v1/quote_pb.js'
import { SolverService } from '../../../gen/aggregator/v1/solver_pb.js'
import type { OwnResultSchema } from '../../../gen/aggregator/v1/solver_stats_pb.js'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../packages/protocol/src/field-rules.js'
import type { QuoteTypedData } from '../../../packages/protocol/src/settlement/settlement.js'
import { ownResultsMessage } from '../../../packages/protocol/src/solvers/registration-messages.js'
import { originsOf } from '../../../packages/protocol/src/values/origin.js'
import { distanceOf, type QuoteRecordView } from '../../auction/records/record-view.js'
import { assertAudience } from '../../sessions/proof.js'
import { assertSignature, assertTimestamp } from '../../solvers/registry/signed-request.js'
import { toParametersMessage, toResultMessage } from '../convert/convert-records.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'
import { toStateFields } from './solver-stats.js'

/** Builds SolverService.ListOwnResults. The checks that cost least come first (docs/decisions.md, D20). */
export function createOwnResultsMethod(context: ServiceContext): Method {
  const { config, clock } = context
  const { recorder, readPageToken, typedDataOf } = context.auction

  return unaryMethod(SolverService.method.listOwnResults, {
    limit: 'results',
    read(message, fields) {
      const key = { chainId: Number(message.chainId), address: fields.address('address', message.address) }
      const after = message.pageToken ? readPageToken(message.pageToken) : undefined
      if (message.pageToken && after === undefined)
        fields.addViolation('pageToken', 'must be the nextPageToken of a page')
      return {
        key,
        timestamp: fields.timestampMs('timestamp', message.timestamp),
        audience: fields.origin('audience', message.audience),
        signature: fields.signature('signature', message.signature),
        page: { after, limit: Math.min(message.pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE) },
      }
    },
    async handle({ key, timestamp, audience, signature, page }, call) {
      const { address } = key
      assertTimestamp(timestamp, clock.now())
      assertAudience(audience, config, originsOf(call.host))
      const text = ownResultsMessage(config.protocolName, { address, audience, timestamp })
      assertSignature({ address, signature }, text)
      const { results, next } = await recorder.listOwn(key, page)
      const typedData = typedDataOf(key.chainId)
      return {
        results: results.map((result) => toOwnResultMessage(result, typedData)),
        nextPageToken: next,
        ...toStateFields(key, context),
      }
    },
  })
}

function toOwnResultMessage(
  view: QuoteRecordView,
  typedData: QuoteTypedData | undefined,
): MessageInitShape<typeof OwnResultSchema> {
  const { quoteId, chainId, requestedAt, kind, request, solvers, bestAmount } = view
  const [result] = solvers.map((own) => toResultMessage(own, { request, bestAmount, typedData }))
  return {
    quoteId,
    requestedAt: BigInt(requestedAt),
    kind: QuoteKind[kind ?? 'FIRM'],
    request: toParametersMessage({ ...request, chainId }),
    result,
    bestAmount,
    distanceBps: distanceOf(view),
  }
}
