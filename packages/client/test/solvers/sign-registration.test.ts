import { recoverMessageAddress } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { signRegistration, signUnregistration } from '../../src/index.js'

const solver = mnemonicToAccount('test test test test test test test test test test test junk')
const text = { address: solver.address, endpointUrl: 'https://solver.example', timestamp: 1_700_000_000_000 }
/** Lines of the signed texts. */
const ADDRESS = 'Address: 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
const TIMESTAMP = 'Timestamp: 1700000000000'

it.each(['Service', 'Other'])(
  'a registration has the text that an instance of the protocol %s reads, and so has an unregistration',
  async (protocolName) => {
    const terms = { ...text, protocolName, chainId: 1, name: 'Aldous' }
    const registration = await signRegistration(solver, terms)
    expect(registration).toMatchObject({ ...text, chainId: 1, name: 'Aldous' })
    const message = `${protocolName} Solver Registration\n${ADDRESS}\nEndpoint: https://solver.example\n${TIMESTAMP}`
    expect(await recoverMessageAddress({ message, signature: registration.signature })).toBe(solver.address)

    const unregistration = await signUnregistration(solver, terms)
    expect(Object.keys(unregistration).sort()).toEqual(['address', 'chainId', 'signature', 'timestamp'])
    const farewell = `${protocolName} Solver Unregistration\n${ADDRESS}\n${TIMESTAMP}`
    const signer = await recoverMessageAddress({ message: farewell, signature: unregistration.signature })
    expect(signer).toBe(solver.address)
  },
)

it('an unregistration has the protocol name Service and the present time by default', async () => {
  const before = Date.now()
  const { timestamp, signature } = await signUnregistration(solver, { chainId: 1 })
  expect(timestamp).toBeGreaterThanOrEqual(before)
  expect(timestamp).toBeLessThanOrEqual(Date.now())
  const message = `Service Solver Unregistration\n${ADDRESS}\nTimestamp: ${timestamp}`
  expect(await recoverMessageAddress({ message, signature })).toBe(solver.address)
})
