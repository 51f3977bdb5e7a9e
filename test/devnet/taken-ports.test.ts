import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { portFor, startNetwork } from '../../src/devnet/network.js'
import { movedParts } from '../../src/devnet/taken-ports.js'
import { freePort } from '../support/free-port.js'

/** Listens at a port of an address. @returns the port */
async function listen(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function startAt(servicePort: number) {
  const network = await startNetwork({ environment: { LOG_LEVEL: 'silent' }, onError: () => {}, servicePort })
  onTestFinished(() => network.close())
  return network
}

it('a service whose port another server has at ::1 only is at 127.0.0.1, and is reported', async () => {
  // A port that is free at ::1 may be taken at 127.0.0.1.
  const port = await listen('::1', await freePort())
  const network = await startAt(port)
  const moved = (await movedParts(network, port)).filter(({ name }) => name === 'the service')
  const url = `http://127.0.0.1:${port}`
  expect(moved).toEqual([{ name: 'the service', usualPort: port, url, isOnlyIpv6Taken: true }])
  expect((await fetch(`${url}/health`)).status).toBe(200)
})

it.each([
  ['the chain leaves its port to a service', 8545, { servicePort: 8545 }, 0],
  ['the chain keeps its port', 8545, { servicePort: 8546 }, 8545],
  ['a solver leaves its port to a service', 4002, { servicePort: 4002 }, 0],
  ['a solver keeps its port', 4001, {}, 4001],
])('%s: %i with %j', (_name, usualPort, options, expected) => {
  expect(portFor(usualPort, options)).toBe(expected)
})
