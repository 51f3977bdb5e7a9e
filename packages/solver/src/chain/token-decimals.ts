import { type Address, erc20Abi } from 'viem'
import { bondToken } from '../../../protocol/src/deployed-settlement.js'
import { readView } from '../../../protocol/src/read-view.js'
import type { SolverLog } from '../solver-options.js'
import type { SolverChain } from './open-chain.js'

/**
 * Warns of each token with more decimals than the bond token. A slash takes a part of an output's smallest units, whatever they are
 * worth, so nearly no quote that pays out such a token fits into a bond.
 * @throws ChainReadError, viem's errors
 */
export async function warnOfDecimals(chain: SolverChain, log: SolverLog): Promise<void> {
  const { client, chainId, settlement, tokens, bondReservationBps } = chain
  const decimalsOf = (address: Address) =>
    client.readContract({ address, abi: erc20Abi, functionName: 'decimals' })
  const bondDecimals = await decimalsOf(await readView(client.request, settlement, bondToken()))
  for (const token of tokens.keys()) {
    const more = (await decimalsOf(token).catch(() => 0)) - bondDecimals
    const atStake = more > 0 && (10n ** BigInt(more) * bondReservationBps) / 10_000n
    if (more > 0) log.warn({ chainId, token }, `each ${token} paid out puts ${atStake} bond tokens at stake`)
  }
}
