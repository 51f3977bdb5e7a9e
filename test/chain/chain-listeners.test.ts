import { expect, it } from 'vitest'
import { type ChainListener, createChainListeners } from '../../src/chain/chain-listeners.js'

it('every listener receives what it listens to, in the order in which they were added', () => {
  const listeners = createChainListeners()
  const received: string[] = []
  const nonces: Partial<ChainListener> = {
    onNoncesCancelled: (cancelled) => received.push(`nonces of ${cancelled.length}`),
    onReset: () => received.push('nonces after a reset'),
  }
  listeners.notify.onReset()
  listeners.add({
    onBonds: (solvers) => received.push(`bonds of ${solvers?.size ?? 'all'}`),
    onReset: () => received.push('bonds after a reset'),
  })
  listeners.add(nonces)
  listeners.add(nonces)
  listeners.notify.onBonds(new Set(['0x1']))
  listeners.notify.onBonds(undefined)
  listeners.notify.onNoncesCancelled([{ solver: '0x1', nonce: 7n }])
  listeners.notify.onReset()
  expect(received).toEqual([
    'bonds of 1',
    'bonds of all',
    'nonces of 1',
    'nonces of 1',
    'bonds after a reset',
    'nonces after a reset',
    'nonces after a reset',
  ])
})
