import { expect, test } from 'vitest'
import type { Endpoint } from '../../../packages/chain/src/rpc-endpoint.js'
import { createHeadSubscriptions } from '../../../src/chain/sync/head-subscriptions.js'
import { only } from '../../support/only.js'

test('a node pushes heads once one has come: some accept a subscription, and push nothing', async () => {
  let push = (_head: object) => {}
  let lose = () => {}
  const endpoint = only<Endpoint>({
    async subscribeToHeads(onHead: typeof push, onEnd: typeof lose) {
      push = onHead
      lose = onEnd
      return true
    },
  })
  const subscriptions = createHeadSubscriptions(
    () => endpoint,
    () => {},
  )
  const state = () => [subscriptions.has(endpoint), subscriptions.isPushing(endpoint)]
  await subscriptions.subscribe(endpoint, () => {})
  expect(state()).toEqual([true, false])
  push({})
  expect(state()).toEqual([true, true])
  lose()
  push({})
  expect(state()).toEqual([false, false])
})
