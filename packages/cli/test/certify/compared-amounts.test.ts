import { expect, it } from 'vitest'
import { commandLine } from '../../../../test/support/process/command-line.js'
import { ADDRESS } from '../../../client/test/samples.js'
import { sendJson, serve } from '../../../client/test/server.js'

const USDC = `0x${'22'.repeat(20)}`

it('certify compares the amounts of a quote as numbers: one that is right but for its signature fails for that', async () => {
  const { url } = await serve(async (request, response) => {
    const asked = JSON.parse((await request.toArray()).join(''))
    const { userAddress: user, amount, inputToken, outputToken, depositDeadline, fillDeadline } = asked
    const terms = { user, inputToken, inputAmount: amount, outputToken, outputAmount: '7', orderType: 0 }
    const quote = { solver: ADDRESS, ...terms, outputChainId: 1, depositDeadline, fillDeadline, nonce: '1' }
    sendJson(response, 200, { quote, signature: `0x${'11'.repeat(64)}1b` })
  })
  const argv = ['certify', '--endpoint', url, '--solver', ADDRESS, '--settlement', ADDRESS, '--chain-id', '1']
  const swap = ['--input-token', ADDRESS, '--output-token', USDC, '--amount', '1000000000000000000']
  const { code, stdout } = await commandLine([...argv, ...swap, '--json'])
  const { cases } = JSON.parse(stdout)
  expect([code, cases.at(-1)]).toMatchObject([5, { name: 'exact-input', problems: ['signature_mismatch'] }])
})
