import { expect, it } from 'vitest'
import type { Network } from '../../src/devnet/network.js'
import { printAddresses } from '../../src/devnet/network-view.js'

/** The lines about parts that are not at their usual port. */
function movedParts(network: object, usual: Partial<Network['ports']> = {}): string[] {
  const lines: string[] = []
  const ports = { service: 3000, chain: 8545, firstSolver: 4001, ...usual }
  printAddresses({ contracts: {}, ports, ...network } as Network, (line) => void lines.push(line))
  return lines.filter((line) => / is taken: |Use these/.test(line))
}
const solver = (name: string, endpointUrl?: string) => ({ name, endpointUrl, account: { address: '0x' } })

it('names the parts of a network that are not at their usual port, and where they are', () => {
  const network = {
    serviceUrl: 'http://127.0.0.1:3000',
    devnet: { rpcUrl: 'http://127.0.0.1:40001', chainId: 31337 },
    solvers: [
      solver('Aldous', 'http://127.0.0.1:4001'),
      solver('Beatrix', 'http://127.0.0.1:40002'),
      solver('Cosmo'),
    ],
  }
  expect(movedParts(network)).toEqual([
    '   port 8545 is taken: the chain is at http://127.0.0.1:40001',
    '   port 4002 is taken: the solver Beatrix is at http://127.0.0.1:40002',
    '   Use these addresses in place of those of the documents.',
  ])
})

it('says nothing of a network whose parts are where they were to be', () => {
  const devnet = { rpcUrl: 'http://127.0.0.1:8545', chainId: 31337 }
  const network = { serviceUrl: 'http://127.0.0.1:8080', devnet, solvers: [solver('Cosmo')] }
  expect(movedParts(network, { service: 8080 })).toEqual([])
})
