import { recoverMessageAddress } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { expect, it } from 'vitest'
import { registrationMessage, unregistrationMessage } from '../../../src/signing/messages.js'
import { signRegistration, signUnregistration } from '../src/index.js'

const solver = mnemonicToAccount('test test test test test test test test test test test junk')
const text = { address: solver.address, endpointUrl: 'https://solver.example', timestamp: 1_700_000_000_000 }

it.each(['Service', 'Other'])(
  'a registration has the text that an instance of the protocol %s reads, and so has an unregistration',
  async (protocolName) => {
    const terms = { ...text, protocolName, chainId: 1, name: 'Aldous' }
    const registration = await signRegistration(solver, terms)
    expect(registration).toMatchObject({ ...text, chainId: 1, name: 'Aldous' })
    const message = registrationMessage(protocolName, text)
    expect(await recoverMessageAddress({ message, signature: registration.signature })).toBe(solver.address)

    const unregistration = await signUnregistration(solver, terms)
    expect(Object.keys(unregistration).sort()).toEqual(['address', 'chainId', 'signature', 'timestamp'])
    const farewell = unregistrationMessage(protocolName, text)
    const signer = await recoverMessageAddress({ message: farewell, signature: unregistration.signature })
    expect(signer).toBe(solver.address)
  },
)

it('an unregistration has the protocol name Service and the present time by default', async () => {
  const before = Date.now()
  const { timestamp, signature } = await signUnregistration(solver, { chainId: 1 })
  expect(timestamp).toBeGreaterThanOrEqual(before)
  expect(timestamp).toBeLessThanOrEqual(Date.now())
  const message = unregistrationMessage('Service', { address: solver.address, timestamp })
  expect(await recoverMessageAddress({ message, signature })).toBe(solver.address)
})
