import type { AggregatorClient, Chain, ListedToken } from '@quote-aggregator/client'
import { toChecksumAddress } from '../../../protocol/src/signing/typed-data.js'
import { lowerCase } from '../../../protocol/src/values/hex.js'

/** A token of the operator's list. */
export type Listed = ListedToken & { readonly symbol: string; readonly decimals: number }

/**
 * An amount for a person: `1.5 WETH` for a listed token. For any other in smallest units: `15 of 0x…`, or `15` where the token is
 * named anyway.
 */
export type FormatAmount = (
  amount: bigint | string,
  token: ListedToken['address'],
  chainId: number,
  form?: 'bare',
) => string

/** Shows smallest units. */
export const inUnits: FormatAmount = (amount, address, _chainId, form) =>
  form === 'bare' ? String(amount) : `${amount} of ${toChecksumAddress(lowerCase(address))}`

/** The tokens in which an instance's amounts are shown (docs/decisions.md, D29). */
export type Amounts = ReturnType<typeof createAmounts>

/** Calls an instance, with the options of each call: it ends with the command. */
export type Work<Answer> = (client: AggregatorClient, calling: { readonly signal: AbortSignal }) => Answer

/** Does some work with an instance. @throws CommandFailure with what to do, in place of the client's errors */
export type CallInstance = <T>(work: Work<Promise<T>>) => Promise<T>

/** Decimals of ERC-20 have 8 bits. An instance may say anything. */
const MAX_DECIMALS = 255
/** A list that is only needed to show amounts is not waited for longer. */
const SHOWN_TIMEOUT_MS = 2000

/** Builds the amounts of an instance, which reads each list once. */
export function createAmounts(call: CallInstance) {
  const lists = new Map<number, Promise<readonly Listed[]>>()
  let chains: Promise<readonly Chain[]> | undefined

  function listed(chainId: number, timeoutMs?: number): Promise<readonly Listed[]> {
    const known = lists.get(chainId)
    if (known !== undefined) return known
    const reading = call((client, calling) => client.listTokens(chainId, { ...calling, timeoutMs }))
    const list = reading.then((tokens) => tokens.filter(isListed))
    lists.set(chainId, list)
    return list
  }

  return {
    /** The tokens of the operator's list. @throws CommandFailure */
    listed: (chainId: number) => listed(chainId),
    /** Builds the format for some chains. It never throws: an instance without lists of tokens shows smallest units. */
    async format(...chainIds: readonly number[]): Promise<FormatAmount> {
      const keyOf = (token: string, chainId: number) => `${chainId} ${token.toLowerCase()}`
      const known = new Map<string, Listed>()
      const read = async (chainId: number) => {
        const tokens = await listed(chainId, SHOWN_TIMEOUT_MS).catch(() => [])
        for (const token of tokens) known.set(keyOf(token.address, chainId), token)
      }
      const [{ formatUnits }] = await Promise.all([import('viem'), ...chainIds.map(read)])
      return (amount, address, chainId, form) => {
        const token = known.get(keyOf(address, chainId))
        if (token !== undefined && /^\d+$/.test(String(amount)))
          return `${formatUnits(BigInt(amount), token.decimals)} ${token.symbol}`
        return inUnits(amount, address, chainId, form)
      }
    },
    /** Builds the format of a chain's bonds, as the instance describes their token; in units when it does not. It never throws. */
    async formatBond(chainId: number) {
      chains ??= call((client, calling) =>
        client.listChains({ ...calling, timeoutMs: SHOWN_TIMEOUT_MS }),
      ).catch(() => [])
      const { bondToken } = (await chains).find((one) => one.chainId === chainId) ?? {}
      const { symbol = '', decimals = MAX_DECIMALS + 1 } = bondToken ?? {}
      const { formatUnits } = await import('viem')
      return (amount: bigint | undefined) => {
        if (amount === undefined) return undefined
        return decimals > MAX_DECIMALS ? `${amount} units` : `${formatUnits(amount, decimals)} ${symbol}`
      }
    },
  }
}

function isListed(token: ListedToken): token is Listed {
  const { listed, symbol, decimals } = token
  return listed && symbol !== undefined && decimals !== undefined && decimals <= MAX_DECIMALS
}
