import { bytesToHex } from 'viem'
import type { Network } from './network.js'
import type { Print } from './user-steps.js'

/** The link brings what the console cannot know without a wallet: an amount, and an address. The tokens are those of the list. */
export function printConsole({ serviceUrl, user }: Network, print: Print): void {
  print(`   console     ${serviceUrl}/#/swap?amount=1&for=${user.address}`)
}

/** Prints where each part of a network is, first those that are not at the port that they were to take. */
export function printAddresses(
  { devnet, contracts, solvers, serviceUrl, ports }: Network,
  print: Print,
): void {
  const parts: [name: string, usualPort: number, url: string | undefined][] = [
    ['the service', ports.service, serviceUrl],
    ['the chain', ports.chain, devnet.rpcUrl],
    ...solvers.map(({ name, endpointUrl }, index): [string, number, string | undefined] => [
      `the solver ${name}`,
      ports.firstSolver + index,
      endpointUrl,
    ]),
  ]
  const moved = parts.filter(([, usualPort, url]) => url && Number(new URL(url).port) !== usualPort)
  for (const [name, usualPort, url] of moved) print(`   port ${usualPort} is taken: ${name} is at ${url}`)
  if (moved.length > 0) print('   Use these addresses in place of those of the documents.')
  print(`   service     ${serviceUrl}`)
  print(`   chain       ${devnet.rpcUrl} (chain id ${devnet.chainId})`)
  for (const [name, address] of Object.entries(contracts)) print(`   ${name.padEnd(11)} ${address}`)
  for (const { name, account, endpointUrl } of solvers)
    print(
      `   ${name.padEnd(11)} ${account.address} ${endpointUrl ?? 'connected by a session, without an endpoint'}`,
    )
}

/** Prints commands to copy, and the accounts. */
export function printWhatToTry({ serviceUrl, user, solvers }: Network, print: Print): void {
  print('')
  print('The network stays up until Ctrl-C. Try:')
  print(`   ${serviceUrl}/docs in a browser`)
  print(`   curl -s ${serviceUrl}/health`)
  print(`   curl -sN ${serviceUrl}/v1/events`)
  print('The accounts, with their well-known private keys:')
  for (const { name, account } of [{ name: 'user', account: user }, ...solvers]) {
    const key = account.getHdKey().privateKey ?? new Uint8Array()
    print(`   ${name.padEnd(8)} ${account.address} ${bytesToHex(key)}`)
  }
}
