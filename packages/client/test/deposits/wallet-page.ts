import { vi } from 'vitest'
import { user } from '../../../../test/support/chain/settlement.js'

interface Mutation {
  isIdle: boolean
  isError: boolean
  data?: unknown
  context?: unknown
}

interface MutationOptions {
  mutationFn(asked: unknown): Promise<unknown>
  onMutate?(asked: unknown): unknown
}

interface Query {
  queryFn(context: object): Promise<unknown>
  enabled: boolean
}

/** What the hooks of the example get of React, TanStack Query and wagmi: each call is a render, with the mutation of the tab. */
export const page = {
  aggregator: {},
  node: {},
  wallet: {},
  mutation: {} as Mutation,
  query: {} as Query,
}
vi.mock('react', () => ({
  createContext() {},
  useContext: () => page.aggregator,
  useEffect: (run: () => void) => run(),
  useState: (first: unknown) => [first, () => {}],
}))
vi.mock('@tanstack/react-query', () => ({
  useMutation({ mutationFn, onMutate }: MutationOptions) {
    const state = page.mutation
    return {
      ...state,
      mutate(asked: unknown) {
        Object.assign(state, { isIdle: false, isError: false, data: undefined, context: onMutate?.(asked) })
        const ended = mutationFn(asked)
        const end = (changes: Partial<Mutation>) => void Object.assign(state, changes)
        // The hook itself has nobody wait for what it follows.
        ended.then(
          (data) => end({ data }),
          () => end({ isError: true }),
        )
        return ended
      },
    }
  },
  useQuery: (query: Query) => Object.assign(page.query, query),
  skipToken: undefined,
}))
vi.mock('wagmi', () => ({
  useConfig: () => page,
  useConnection: () => ({ status: 'connected', address: user.address }),
  usePublicClient: () => page.node,
}))
vi.mock('wagmi/actions', () => ({
  getConnectorClient: async ({ wallet }: typeof page) => wallet,
}))

/** Loads the hooks of the example as a new tab does, or the same one again. */
export function importHooks() {
  vi.resetModules()
  return import('../../../../examples/wallet/src/aggregator-hooks.ts' as string)
}

/** What the page shows, and which queries it repeats. */
export const shown: unknown[] = []
export const repeated: unknown[] = []
export const queries = {
  setQueryData: (_: unknown, value: unknown) => shown.push(value),
  invalidateQueries: ({ queryKey }: { queryKey: unknown }) => repeated.push(queryKey),
}
