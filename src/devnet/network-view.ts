import { bytesToHex } from 'viem'
import type { DevAccount, DevnetContracts } from './deploy.js'
import type { Network } from './network.js'
import { movedParts } from './taken-ports.js'
import type { Print } from './user-steps.js'

/** The link brings what the console cannot know without a wallet: the tokens' symbols and decimals, and an address. */
export function printConsole({ serviceUrl, contracts, user }: Network, print: Print): void {
  const pair = `sell=${contracts.weth}:18:WETH&buy=${contracts.usdc}:6:USDC`
  print(`   console     ${serviceUrl}/#/swap?${pair}&amount=1&for=${user.address}`)
}

/**
 * Prints where each part of a network is, first those that are not at their usual port.
 * @param port the port that the service was to take
 */
export async function printAddresses(network: Network, print: Print, port?: number): Promise<void> {
  const moved = await movedParts(network, port)
  for (const { name, usualPort, url, isOnlyIpv6Taken } of moved)
    print(`   port ${usualPort} is taken${isOnlyIpv6Taken ? ' at ::1' : ''}: ${name} is at ${url}`)
  if (moved.length > 0) print('   Use these addresses in place of those of the documents.')
  const { devnet, contracts, solvers, serviceUrl } = network
  print(`   service     ${serviceUrl}`)
  print(`   chain       ${devnet.rpcUrl} (chain id ${devnet.chainId})`)
  for (const [name, address] of Object.entries(contracts)) print(`   ${name.padEnd(11)} ${address}`)
  for (const { name, account, endpointUrl } of solvers)
    print(
      `   ${name.padEnd(11)} ${account.address} ${endpointUrl ?? 'connected by a session, without an endpoint'}`,
    )
}

/** Prints commands to copy, and the accounts. */
export function printWhatToTry(
  { devnet, contracts, serviceUrl, user, solvers }: Network,
  print: Print,
): void {
  const body = exampleQuote(devnet.chainId, contracts, user)
  print('')
  print('The network stays up until Ctrl-C. Try:')
  print(`   ${serviceUrl}/docs in a browser`)
  print(`   curl -s ${serviceUrl}/health`)
  print(`   curl -s ${serviceUrl}/v1/${devnet.chainId}/solvers`)
  print(
    `   curl -s ${serviceUrl}/v1/${devnet.chainId}/quote -H 'content-type: application/json' -d '${body}'`,
  )
  print(`   curl -sN ${serviceUrl}/v1/events`)
  print('The accounts, with their well-known private keys:')
  for (const { name, account } of [{ name: 'user', account: user }, ...solvers]) {
    const key = account.getHdKey().privateKey ?? new Uint8Array()
    print(`   ${name.padEnd(8)} ${account.address} ${bytesToHex(key)}`)
  }
}

function exampleQuote(chainId: number, contracts: DevnetContracts, user: DevAccount): string {
  return JSON.stringify({
    inputToken: contracts.weth,
    outputToken: contracts.usdc,
    orderType: 'EXACT_INPUT',
    amount: '1000000000000000000',
    userAddress: user.address,
    originChainId: chainId,
    destinationChainId: chainId,
    depositMode: 'CONTRACT',
  })
}
