import { type Address, erc20Abi } from 'viem'
import type { SolverLog } from '../solver-options.js'
import type { SolverChain } from './open-chain.js'
import { settlementAbi } from './settlement-abi.js'

/**
 * Warns of each token with more decimals than the bond token. A slash takes a part of an output's smallest units, whatever they are
 * worth, so nearly no quote that pays out such a token fits into a bond.
 * @throws viem's errors
 */
export async function warnOfDecimals(chain: SolverChain, log: SolverLog): Promise<void> {
  const { client, chainId, settlement, tokens, bondReservationBps } = chain
  const decimalsOf = (address: Address) =>
    client.readContract({ address, abi: erc20Abi, functionName: 'decimals' })
  const bondCall = { address: settlement, abi: settlementAbi, functionName: 'BOND_TOKEN' } as const
  const bondDecimals = await decimalsOf(await client.readContract(bondCall))
  for (const token of tokens.keys()) {
    const more = (await decimalsOf(token).catch(() => 0)) - bondDecimals
    const atStake = more > 0 && (10n ** BigInt(more) * bondReservationBps) / 10_000n
    if (more > 0) log.warn({ chainId, token }, `each ${token} paid out puts ${atStake} bond tokens at stake`)
  }
}
