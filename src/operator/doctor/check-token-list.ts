import { erc20Abi, type PublicClient } from 'viem'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { toChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import type { ChainConfig } from '../../config/config.js'
import { type CheckResult, createReport } from './check-result.js'

/** A list may have thousands, and nodes limit rates. */
const READ_AT_ONCE = 50

/**
 * Compares the decimals of the operator's list with those of the tokens: wrong ones would make people sell a multiple of what they mean.
 * @param client client of an endpoint that answers; undefined when no endpoint does
 */
export async function checkTokenList(
  { chainId, tokenList }: Pick<ChainConfig, 'chainId' | 'tokenList'>,
  client: PublicClient | undefined,
): Promise<readonly CheckResult[]> {
  const { ok, warn, fail, list } = createReport(`TOKEN_LIST_${chainId}`)
  if (client === undefined || tokenList.size === 0) return list
  const read = { abi: erc20Abi, functionName: 'decimals' } as const
  const tokens = [...tokenList.values()]
  while (tokens.length > 0) {
    const some = tokens.splice(0, READ_AT_ONCE)
    const answers = await Promise.allSettled(
      some.map(({ address }) => client.readContract({ address, ...read })),
    )
    answers.forEach((answer, index) => {
      const { symbol, address = '0x', decimals } = some[index] ?? {}
      const token = `${symbol} (${toChecksumAddress(address)})`
      if (answer.status === 'rejected')
        warn(token, `decimals could not be read: ${wordsOf(answer.reason)}`, 'Is it a token of this chain?')
      else if (answer.value !== decimals)
        fail(token, `has ${answer.value} decimals, and ${decimals} in the list`, 'Correct the list.')
    })
  }
  if (list.length === 0) ok('', `the decimals of ${tokenList.size} tokens are those of the chain`)
  return list
}
