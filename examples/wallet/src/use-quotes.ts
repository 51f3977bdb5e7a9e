import {
  isRetryable,
  type QuoteStreamParams,
  queryKey,
  retryDelay,
  type SignedQuote,
} from '@quote-aggregator/client'
import { skipToken, useQuery } from '@tanstack/react-query'
import { aggregator } from './config'

const RESTART_MS = 30_000

/** The best offer, as it changes. @param params undefined until a wallet is connected */
export function useQuotes(params: QuoteStreamParams | undefined) {
  return useQuery({
    queryKey: queryKey('quotes', params),
    queryFn:
      params === undefined
        ? skipToken
        : async ({ client, queryKey, signal }) => {
            let best: SignedQuote | null = null
            for await (const message of aggregator.streamQuotes(params, { signal })) {
              // The first offers of a later round may be worse than those of the round before: wait for its end.
              if (message.type === 'quote' && message.round > 1) continue
              best = (message.type === 'quote' ? message.offer : message.best) ?? null
              client.setQueryData(queryKey, best)
            }
            return best
          },
    // A stream ends after 10 minutes, or with an error. While it is open, this does nothing.
    refetchInterval: RESTART_MS,
    retry: (failures, error) => failures < 3 && isRetryable(error),
    retryDelay,
  })
}
