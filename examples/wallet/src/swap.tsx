import {
  depositCalls,
  type QuoteStreamParams,
  queryKey,
  readSettlement,
  type SignedQuote,
  verifyQuote,
} from '@quote-aggregator/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatUnits, parseUnits } from 'viem'
import { useConnect, useConnection, useConnectors, usePublicClient, useSendTransaction } from 'wagmi'
import { aggregator, chainId, inputToken, outputToken, settlement } from './config'
import { useQuotes } from './use-quotes'

const OUTPUT_DECIMALS = 6
const REFRESH_SECONDS = 15

/** Sells one WETH: quote, check, deposit, and the order to its last state. */
export function Swap() {
  const { address } = useConnection()
  const client = usePublicClient()
  const { mutateAsync: sendTransaction } = useSendTransaction()
  const [state, setState] = useState<string>()

  // Before a wallet is connected there is no user, and no stream.
  const params: QuoteStreamParams | undefined = address && {
    chainId,
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', 18),
    user: address,
    depositMode: 'CONTRACT',
    refreshSeconds: REFRESH_SECONDS,
  }
  const quotes = useQuotes(params)
  const swap = useMutation({
    mutationFn: async ({ best, params }: { best: SignedQuote; params: QuoteStreamParams }) => {
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

  const price = usePrice(params === undefined)

  if (params === undefined)
    return (
      <>
        <p>
          {price.data &&
            `About ${formatUnits(price.data.best.outputAmount, OUTPUT_DECIMALS)} USDC for 1 WETH`}
        </p>
        <Connect />
      </>
    )
  const best = quotes.data
  const error = quotes.error ?? swap.error
  return (
    <>
      <p>
        {best
          ? `1 WETH for ${formatUnits(best.quote.outputAmount, OUTPUT_DECIMALS)} USDC`
          : 'Asking for a quote'}
      </p>
      <button
        type="button"
        disabled={!best || swap.isPending}
        onClick={() => best && swap.mutate({ best, params })}
      >
        Swap
      </button>
      {state && <output>{state}</output>}
      {error && <p role="alert">{error.message}</p>}
    </>
  )
}

/** What one WETH gives, while there is no user to ask a quote for. */
function usePrice(isWanted: boolean) {
  const params = {
    chainId,
    inputToken,
    outputToken,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', 18),
  } as const
  return useQuery({
    queryKey: queryKey('price', params),
    queryFn: ({ signal }) => aggregator.getPrice(params, { signal }),
    enabled: isWanted,
    refetchInterval: REFRESH_SECONDS * 1000,
  })
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
