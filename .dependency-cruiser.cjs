/** The layers of src/, from the lowest: each imports itself and lower ones only. Layers of one line do not know each other. */
const LAYERS = [
  ['store'],
  ['cluster'],
  ['chain'],
  ['standing'],
  ['solvers', 'events'],
  ['sessions'],
  ['auction'],
  ['rpc'],
  ['http'],
  ['app'],
  ['main'],
  ['operator'],
]
/** What all layers may import. It imports only itself. */
const SHARED = ['clients', 'config', 'telemetry', 'internals', 'concurrency']

/** Packages that only some folders may import. */
const PACKAGE_OWNERS = [
  ['kysely', ['store']],
  ['pg', ['store', 'cluster', 'internals']],
  ['undici', ['solvers', 'cluster'], '^packages/chain/'],
  ['(fastify|@fastify/[^/]+)', ['http']],
]

/** Matches the folders, and the files of these names, right below src/. */
const inSrc = (names) => `^src/(${names.join('|')})(/|\\.ts$)`
const all = [...LAYERS.flat(), ...SHARED]

const layers = LAYERS.flatMap((group, rank) =>
  group.map((layer) => ({
    name: `layer-${layer}`,
    comment: `${layer} imports only itself and what is below it.`,
    severity: 'error',
    from: { path: inSrc([layer]) },
    to: {
      path: '^src/',
      pathNot: inSrc([layer, ...LAYERS.slice(0, rank).flat(), ...SHARED]),
    },
  })),
)

const owners = PACKAGE_OWNERS.map(([name, folders, others = []]) => ({
  name: `package-of-${folders.join('-and-')}`,
  comment: `Only ${folders.join(' and ')} may import ${name}.`,
  severity: 'error',
  from: { path: '^(src|packages)/', pathNot: [inSrc(folders)].concat(others) },
  to: { path: `^node_modules/(@types/)?${name}/` },
}))

module.exports = {
  forbidden: [
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'not-resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-layer',
      comment: 'Each file below src/ belongs to a layer of this list.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: inSrc(all) },
    },
    ...layers,
    {
      name: 'shared',
      comment: `${SHARED.join(', ')} import only each other.`,
      severity: 'error',
      from: { path: inSrc(SHARED) },
      to: { path: '^src/', pathNot: inSrc(SHARED) },
    },
    {
      name: 'packages-know-no-service',
      comment: 'The service imports packages, never the reverse.',
      severity: 'error',
      from: { path: '^packages/[a-z]+/src/' },
      to: { path: '^src/' },
    },
    {
      name: 'command-line-is-on-top',
      comment: 'The command line uses the packages. Only the program that contains it imports it.',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: ['^packages/cli/', inSrc(['operator']), '/test/'] },
      to: { path: '^packages/cli/' },
    },
    {
      name: 'command-line-is-a-client',
      comment:
        'The command line, certify and the local network import other packages, and no generated messages.',
      severity: 'error',
      from: { path: '^packages/cli/src/' },
      to: {
        path: '^(gen|packages|test|bench)/',
        pathNot: '^(packages/(cli|client|mcp|solver|chain|protocol)/src/|gen/contracts/)',
      },
    },
    {
      name: 'mcp-is-a-client',
      comment:
        'The MCP server imports the client, the protocol, viem and the SDK. The command line loads it.',
      severity: 'error',
      from: { path: '^packages/mcp/src/' },
      to: {
        path: '^(src|gen|packages|node_modules|test|bench)/',
        pathNot:
          '^(packages/(mcp|client|protocol)/src/|node_modules/(viem|zod|@modelcontextprotocol/server)/)',
      },
    },
    {
      name: 'protocol-is-pure',
      comment: 'The protocol imports only viem, whose functions it uses for encoding and hashing.',
      severity: 'error',
      from: { path: '^packages/protocol/src/', pathNot: '^packages/protocol/src/signing/' },
      to: { pathNot: '^(packages/protocol/src/(?!signing/)|node_modules/viem/)' },
    },
    {
      name: 'signing-is-for-node',
      comment: 'Hashing and recovery use faster libraries, which browsers need not load.',
      severity: 'error',
      from: { path: '^packages/(protocol|client|console)/src/', pathNot: '^packages/protocol/src/signing/' },
      to: { path: '^packages/protocol/src/signing/' },
    },
    {
      name: 'client-is-for-browsers',
      comment: 'The client imports only viem, the generated messages and the protocol.',
      severity: 'error',
      from: { path: '^packages/client/src/' },
      to: {
        pathNot:
          '^(packages/client/|packages/protocol/src/|gen/aggregator/|gen/json\\.ts$|node_modules/viem/)',
      },
    },
    {
      name: 'settlement-contracts-are-registered',
      comment:
        'The ABI of a chain is what packages/protocol/src/settlement/settlement-of-chain.ts registers.',
      severity: 'error',
      from: {
        path: '^(src|packages/[a-z]+/src)/',
        pathNot: '^packages/protocol/src/settlement/settlement-of-chain',
      },
      to: { path: '^packages/protocol/src/settlement/deployed-settlement' },
    },
    {
      name: 'compiled-contracts-are-for-the-local-network',
      comment: 'The ABI of settlement contracts is packages/protocol/src/settlement/deployed-settlement.ts.',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: '^packages/cli/src/devnet/' },
      to: { path: '^gen/contracts/' },
    },
    {
      name: 'json-rpc-is-in-packages-chain',
      comment: 'The reader of chains and the commands open no connections of their own.',
      severity: 'error',
      from: { path: '^(src/(chain|operator)|packages/cli/src)/' },
      to: { path: '^node_modules/undici/|^node_modules/(@types/)?ws/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'json-rpc-stands-alone',
      comment: 'The client of JSON-RPC imports no other part of the project but the protocol.',
      severity: 'error',
      from: { path: '^packages/chain/src/' },
      to: {
        path: '^(src|gen|packages|node_modules|test|bench)/',
        pathNot: '^(packages/(chain|protocol)/src/|node_modules/(@types/)?(viem|ws|undici)/)',
      },
    },
    {
      name: 'no-node-in-browsers',
      comment: 'Protocol, client and console run in browsers, where packages/chain cannot.',
      severity: 'error',
      from: { path: '^packages/(protocol|client|console)/src/' },
      to: { path: '^packages/(chain|solver)/|^node_modules/(@types/)?(undici|ws)/' },
    },
    {
      name: 'no-modules-of-node-in-browsers',
      comment: 'Protocol, client and console import no module of Node.',
      severity: 'error',
      from: { path: '^packages/(protocol|client|console)/src/', pathNot: '^packages/protocol/src/signing/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'kit-of-solvers-stands-alone',
      comment: 'The kit of solvers imports the client, the reader of chains and the protocol.',
      severity: 'error',
      from: { path: '^packages/solver/src/' },
      to: {
        path: '^(src|gen|packages|node_modules|test|bench)/',
        pathNot:
          '^(packages/(solver|client|chain|protocol|sqlite)/src/|node_modules/(@types/)?(viem|ws|zod|lru-cache|secp256k1)/)',
      },
    },
    {
      name: 'sqlite-is-chosen-in-packages-sqlite',
      comment: 'Which package of SQLite a process loads is decided in one place.',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: '^packages/sqlite/' },
      to: { path: '^node_modules/(@types/)?better-sqlite3/' },
    },
    {
      name: 'sqlite-is-for-stores',
      comment: 'Only the store and the kit of solvers open databases.',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: '^(src/store|packages/(solver|sqlite))/' },
      to: { path: '^packages/sqlite/' },
    },
    {
      name: 'sessions-of-solvers-stand-alone',
      comment:
        'A solver takes its side of a session with its parts, the pauses of the client, the protocol, ws and zod alone.',
      severity: 'error',
      from: { path: '^packages/solver/src/session/' },
      to: {
        pathNot:
          '^(packages/(solver/src/(session/|solver-parts)|client/src/calls/retry-delay|protocol/src/)|node_modules/(@types/)?(ws|zod)/)',
      },
    },
    {
      name: 'messages-at-the-edge',
      comment: 'Generated messages are used by rpc, http and the client.',
      severity: 'error',
      from: { path: '^src/', pathNot: inSrc(['rpc', 'http']) },
      to: { path: '^gen/aggregator/' },
    },
    ...owners,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
