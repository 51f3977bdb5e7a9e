import {
  depositCalls,
  isRetryable,
  type QuoteParams,
  queryKey,
  readSettlement,
  retryDelay,
  type SignedQuote,
  verifyQuote,
} from '@quote-aggregator/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatUnits, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors, usePublicClient, useSendTransaction } from 'wagmi'
import { aggregator, chainId, inputToken, outputToken, settlement } from './config'

const OUTPUT_DECIMALS = 6
const REFRESH_MS = 30_000

/** Sells one WETH: quote, check, deposit, and the order to its last state. */
export function Swap() {
  const { address } = useConnection()
  const client = usePublicClient()
  const { mutateAsync: sendTransaction } = useSendTransaction()
  const [state, setState] = useState<string>()

  // Before a wallet is connected there is no user: the query is not enabled, so the client is not called.
  const params: QuoteParams | undefined = address && {
    chainId,
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', 18),
    user: address,
    depositMode: 'CONTRACT',
  }
  const quote = useQuery({
    queryKey: queryKey('quote', params),
    queryFn: ({ signal }) => aggregator.getQuote(params as QuoteParams, { signal }),
    enabled: params !== undefined,
    refetchInterval: REFRESH_MS,
    retry: (failures, error) => failures < 3 && isRetryable(error),
    retryDelay,
  })
  const swap = useMutation({
    mutationFn: async ({ best, params }: { best: SignedQuote; params: QuoteParams }) => {
      const terms = await readSettlement(client, settlement)
      await verifyQuote(best, { ...terms, params })
      for (const call of await depositCalls(best, terms)) {
        const hash = await sendTransaction({ ...call, chainId })
        const { status } = await client.waitForTransactionReceipt({ hash })
        if (status !== 'success') throw new Error(`transaction ${hash} reverted`)
      }
      for await (const order of aggregator.watchOrder(chainId, best.orderId, { finalAfterMs: 0 }))
        setState(order.state)
    },
  })

  if (params === undefined) return <Connect />
  const { best } = quote.data ?? {}
  const error = quote.error ?? swap.error
  return (
    <>
      <p>
        {best
          ? `1 WETH for ${formatUnits(best.quote.outputAmount, OUTPUT_DECIMALS)} USDC`
          : 'Asking for a quote'}
      </p>
      <button
        type="button"
        disabled={best === undefined || swap.isPending}
        onClick={() => best && swap.mutate({ best, params })}
      >
        Swap
      </button>
      {state && <output>{state}</output>}
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}

function Connect() {
  const { mutate: connect } = useConnect()
  const [connector] = useConnectors()
  return (
    <button
      type="button"
      disabled={connector === undefined}
      onClick={() => connector && connect({ connector })}
    >
      Connect wallet
    </button>
  )
}
