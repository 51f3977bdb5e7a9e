import { useEffect, useState } from 'preact/hooks'
import type { Chain } from '../../../../gen/aggregator/v1/chain_pb.js'
import { now } from '../data/clock.js'
import { wallet } from './connected-wallet.js'
import { loadWallet, type WalletCode } from './load.js'

const PERIOD_MS = 5000

/**
 * What the wallet's node says, read again every few seconds. Undefined until it is read, and without a wallet on the chain.
 * @param key of what is read; empty reads nothing
 */
export function useWalletRead<T>(
  chain: Chain,
  key: string,
  read: (code: WalletCode) => Promise<T>,
): T | undefined {
  const known = wallet.value
  const isHere = known !== undefined && BigInt(known.chainId) === chain.chainId && key !== ''
  const own = isHere ? `${key} ${known.address}` : ''
  const [answer, setAnswer] = useState<{ readonly key: string; readonly value: T }>()
  const period = Math.floor(now.value / PERIOD_MS)
  useEffect(() => {
    if (own === '') return
    let isEnded = false
    void loadWallet()
      .then(read)
      .then(
        (value) => !isEnded && setAnswer({ key: own, value }),
        () => {},
      )
    return () => {
      isEnded = true
    }
  }, [own, period])
  return answer?.key === own ? answer.value : undefined
}

/** How much of a token the user deposits with one prompt, in the token's smallest unit. @param token empty reads nothing */
export function useOnePrompt(chain: Chain, token: string): bigint | undefined {
  return useWalletRead(chain, token, ({ readOnePrompt }) => readOnePrompt(chain, token))
}

/** How much of tokens the account of the wallet has, in their smallest units, without those that cannot be read. */
export function useBalances(
  chain: Chain,
  tokens: readonly string[],
): ReadonlyMap<string, bigint> | undefined {
  return useWalletRead(chain, tokens.join(' '), async ({ readBalance }) => {
    const read = tokens.map(
      async (token) => [token, await readBalance(Number(chain.chainId), token)] as const,
    )
    const settled = await Promise.allSettled(read)
    return new Map(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  })
}
