// Written by test/support/openapi/capture.ts from a real run. Do not edit.
import type { ExampleEvent, Sample } from './example.js'

/** The settlement contract of that run. */
export const settlement = {
  settlement: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  domainSeparator: '0x176c9ce03e613bd4ffc523ef98632cfd2e044f23d290e815d3c34b67d44c1f06',
  depositProxyCodeHash: '0x83a2ef8b86b95c8e4398409296ebffb1345a73c3cb3eec0b2ce93f23d9cdf853',
} as const

/** A request and its answer of each kind. */
export const exchanges: readonly Sample[] = [
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see address, name.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'address',
          message: 'must be a 20-byte address in hex with 0x',
        },
        {
          field: 'name',
          message:
            'must be 1 to 64 visible characters: no control, format or other invisible characters, no blank at either end, at most 4 combining marks in a row',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 413,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The body must be at most 64 KiB.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'body',
          message: 'must be at most 64 KiB',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'Chain 4242 does not answer at the moment.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 401,
    reason: 'SIGNATURE_INVALID',
    body: {
      error: 'The signature is not by this address over the expected message.',
      code: 'SIGNATURE_INVALID',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 401,
    reason: 'TIMESTAMP_OUT_OF_RANGE',
    body: {
      error: 'The timestamp must be within 5 minutes of the clock.',
      code: 'TIMESTAMP_OUT_OF_RANGE',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 400,
    reason: 'ENDPOINT_REJECTED',
    body: {
      error:
        'The endpoint must be at a public IP address, or at a name that resolves to such addresses only.',
      code: 'ENDPOINT_REJECTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 400,
    reason: 'BOND_INSUFFICIENT',
    body: {
      error: 'The solver must have a bond of at least 1000000000 on the settlement contract.',
      code: 'BOND_INSUFFICIENT',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 200,
    path: {
      chainId: 31337,
    },
    requestBody: {
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      endpointUrl: 'http://127.0.0.1:35049',
      name: 'Aldous',
      signature:
        '0xde5539f5d4524d0a154bd58e560fc0c5ce4fa83d7861a1299d391ddeaa39f3d8142f9805ea61de676eea302612e6e9e093c6456efa1d13a788b0946fc1ea916e1c',
      timestamp: 1795387145557,
    },
    body: {
      status: 'registered',
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      check: {
        outcome: 'DECLINED',
        explanation:
          'The solver answered with status 422; only 200 carries an offer. No pair has been quoted on this chain since the instance started, so the request was for tokens that do not exist: to decline is right. The signature is not checked yet: register again after the first quotes.',
      },
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 401,
    reason: 'TIMESTAMP_REUSED',
    body: {
      error: 'The timestamp must be newer than the last accepted one, 1795387145557.',
      code: 'TIMESTAMP_REUSED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 400,
    reason: 'SOLVER_LIMIT_REACHED',
    body: {
      error: 'This chain has its 2 solvers already, and none can be replaced now.',
      code: 'SOLVER_LIMIT_REACHED',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers',
    status: 200,
    path: {
      chainId: 31337,
    },
    body: [
      {
        address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        name: 'Aldous',
        registeredAt: 1795387145663,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795387145688,
      },
    ],
  },
  {
    of: 'GET /v1/{chainId}/solvers',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see Connect-Timeout-Ms.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'Connect-Timeout-Ms',
          message: 'must be milliseconds, at most 10 digits',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/chains',
    status: 200,
    body: {
      chains: [
        {
          chainId: 31337,
          settlement: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
          protocolName: 'Service',
          domain: {
            name: 'Settlement',
            version: '1',
            chainId: 31337,
            verifyingContract: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
          },
          bondToken: {
            address: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
            symbol: 'bUSD',
            decimals: 6,
          },
          minimumBond: '1000000000',
          destinationChainIds: [31337],
          defaultDepositWindow: 300,
          fillWindow: 120,
          quoteTimeoutMs: 2000,
          quoteSoftTimeoutMs: 0,
          maxQuoteFanOut: 10,
          status: 'ok',
          headBlock: 14,
          activeSolvers: 2,
        },
        {
          chainId: 4242,
          settlement: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
          protocolName: 'Service',
          minimumBond: '1000000000',
          destinationChainIds: [4242],
          defaultDepositWindow: 300,
          fillWindow: 120,
          quoteTimeoutMs: 2000,
          quoteSoftTimeoutMs: 0,
          maxQuoteFanOut: 10,
          status: 'down',
          activeSolvers: 0,
        },
      ],
    },
  },
  {
    of: 'GET /v1/chains',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see Connect-Timeout-Ms.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'Connect-Timeout-Ms',
          message: 'must be milliseconds, at most 10 digits',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 200,
    path: {
      chainId: 31337,
    },
    requestBody: {
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      orderType: 'EXACT_INPUT',
      amount: '1000000000000000000',
      userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      originChainId: 31337,
      destinationChainId: 31337,
      depositMode: 'CONTRACT',
    },
    body: {
      quote: {
        solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        inputAmount: '1000000000000000000',
        outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        outputAmount: '2498750000',
        orderType: 0,
        outputChainId: 31337,
        depositDeadline: 1795387445,
        fillDeadline: 1795387565,
        nonce: '1',
      },
      solverSignature:
        '0x409a015d6d8214f3ccd952c23553ba6b7825e370ae066f86b17f5eb190c49b5d2422cf83dadbb2c4e5a8e9f3cc79aec9ce0ea69f83d5a098fc0631668a4ebcff1c',
      depositAddress: '0x9E66D01ae47ac708B34b97D028930D10D7d7e2B1',
      orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
      alternativeQuotes: [
        {
          quote: {
            solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
            user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
            inputAmount: '1000000000000000000',
            outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
            outputAmount: '2497000000',
            orderType: 0,
            outputChainId: 31337,
            depositDeadline: 1795387445,
            fillDeadline: 1795387565,
            nonce: '1',
          },
          solverSignature:
            '0xd80dbba807ccf47f69f1ee693eb00dabe9fc351be79c3d134b5bb30b627eb9de402d50be47eda684163c7ddbb1bc7a965f7d84faaf563a50aacbeb808986181c1b',
          depositAddress: '0xE6572F69F61F99b9C1e5eeb9Ee43C71A0BA8CFFF',
          orderId: '0xae0ed374e196ce10d64b3c64bd77a92e0498135d48e2dd9860cabb61e95bbb68',
        },
      ],
      quoteId: 'c7378d21-d1e1-4073-8060-63dddbebbd42',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see depositMode, amount.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'depositMode',
          message: 'must be CONTRACT or ADDRESS',
        },
        {
          field: 'amount',
          message: 'must be a decimal integer of 1 to 2^256-1 without sign, point, exponent or leading zeros',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 413,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The body must be at most 64 KiB.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'body',
          message: 'must be at most 64 KiB',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'Chain 4242 has not answered yet.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 200,
    path: {
      chainId: 31337,
    },
    requestBody: {
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      orderType: 'EXACT_INPUT',
      amount: '1000000000000000000',
    },
    body: {
      best: {
        solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        name: 'Aldous',
        inputAmount: '1000000000000000000',
        outputAmount: '2498750000',
      },
      offers: 2,
      asOf: 1795387145739,
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see outputToken, amount.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'outputToken',
          message: 'must differ from inputToken',
        },
        {
          field: 'amount',
          message: 'must be a decimal integer of 1 to 2^256-1 without sign, point, exponent or leading zeros',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 413,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The body must be at most 64 KiB.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'body',
          message: 'must be at most 64 KiB',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'Chain 4242 has not answered yet.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 200,
    path: {
      chainId: 31337,
    },
    requestBody: {
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      orderType: 'EXACT_INPUT',
      amount: '1000000000000000000',
      userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      originChainId: 31337,
      destinationChainId: 31337,
      depositMode: 'CONTRACT',
    },
    body: ':\n\nevent: quote\ndata: {"quoteId":"ef140709-3d8c-40c5-802f-0737a235cfaa","round":1,"quote":{"solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","orderType":0,"outputChainId":31337,"depositDeadline":1795387445,"fillDeadline":1795387565,"nonce":"3"},"solverSignature":"0x05b1b15b96f69d8d9085b6d514164d4c3fc01b0876ef3c330da85aa94200b22e16e6715b5696a0d183e2bf358eca470e9f8b96a4a75c01ffe5c0ef2379f0bcde1c","depositAddress":"0xa413aa3AD2A62E477C359Fef6034023450c58e6c","orderId":"0x1f392348fda85f453be52c4741e26b042f93c58b8e1ea92c699755722f3a42c0","asked":2,"answered":1}\n',
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see refreshSeconds.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'refreshSeconds',
          message: 'must be an integer of 5 to 60',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 413,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The body must be at most 64 KiB.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'body',
          message: 'must be at most 64 KiB',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'Chain 4242 has not answered yet.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 503,
    reason: 'STREAM_LIMIT_REACHED',
    body: {
      error: 'All 1 streams of this instance are open (MAX_STREAM_CLIENTS).',
      code: 'STREAM_LIMIT_REACHED',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: '6111e192-cff4-40c2-80fa-42cf6d3adee5',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: 'c4792e6e-814a-4020-80b6-8053d1f0f3a6',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 503,
    reason: 'SOLVERS_BUSY',
    body: {
      error: 'All connections to solvers are in use: try again in 1 s.',
      code: 'SOLVERS_BUSY',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'SOLVERS_BUSY',
    body: {
      error: 'All connections to solvers are in use: try again in 1 s.',
      code: 'SOLVERS_BUSY',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 200,
    path: {
      chainId: 31337,
      quoteId: 'c7378d21-d1e1-4073-8060-63dddbebbd42',
    },
    body: {
      quoteId: 'c7378d21-d1e1-4073-8060-63dddbebbd42',
      chainId: 31337,
      requestedAt: 1795387145710,
      durationMs: 9,
      outcome: 'QUOTED',
      request: {
        inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        orderType: 'EXACT_INPUT',
        amount: '1000000000000000000',
        userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        destinationChainId: 31337,
        depositMode: 'CONTRACT',
        depositDeadline: 1795387445,
        fillDeadline: 1795387565,
      },
      solvers: [
        {
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          outcome: 'QUOTED',
          rank: 1,
          durationMs: 6,
          inputAmount: '1000000000000000000',
          outputAmount: '2498750000',
          explanation: 'The best offer: it is the one that the caller got first.',
        },
        {
          solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
          outcome: 'QUOTED',
          rank: 2,
          durationMs: 6,
          inputAmount: '1000000000000000000',
          outputAmount: '2497000000',
          explanation: "A valid offer; the best one was 1750000 of the output token's smallest unit more.",
        },
      ],
      bestAmount: '2498750000',
      kind: 'FIRM',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 404,
    reason: 'QUOTE_NOT_FOUND',
    body: {
      error: 'This chain has no record of this quote, or no longer has one.',
      code: 'QUOTE_NOT_FOUND',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see quoteId.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'quoteId',
          message: 'must be a UUID',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/events',
    status: 503,
    reason: 'STREAM_LIMIT_REACHED',
    body: {
      error: 'All 1 streams of this instance are open (MAX_STREAM_CLIENTS).',
      code: 'STREAM_LIMIT_REACHED',
    },
  },
  {
    of: 'GET /v1/events',
    status: 200,
    body: 'id: UsocPmJp.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"UsocPmJp.0"}\n\nid: UsocPmJp.1.QJJIxH7L\ndata: {"type":"Deposited","chainId":31337,"orderId":"0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795387565,"blockNumber":15,"cursor":"UsocPmJp.1.QJJIxH7L"}\n\nid: UsocPmJp.2.SttyxaZr\ndata: {"type":"Refunded","chainId":31337,"orderId":"0x910123fe628b0dc4e1fa7ce1ca6817ae698617eb05429742079792e9652721a2","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"cursor":"UsocPmJp.2.SttyxaZr"}\n\nid: UsocPmJp.3.MJcvxyHc\ndata: {"type":"Settled","chainId":31337,"orderId":"0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2","blockNumber":17,"cursor":"UsocPmJp.3.MJcvxyHc"}\n\nid: UsocPmJp.4.abpQt6Et\ndata: {"type":"Reverted","chainId":31337,"orderId":"0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2","event":"Settled","blockNumber":17,"cursor":"UsocPmJp.4.abpQt6Et"}\n',
  },
  {
    of: 'GET /v1/events',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see user.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'user',
          message: 'must be a 20-byte address in hex with 0x',
        },
      ],
    },
  },
  {
    of: 'GET /v1/events',
    status: 400,
    reason: 'CURSOR_UNKNOWN',
    body: {
      error: 'This cursor does not belong to the event log, or the events after it are no longer kept.',
      code: 'CURSOR_UNKNOWN',
    },
  },
  {
    of: 'GET /v1/events',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/ws',
    status: 426,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'This path is a WebSocket. The same events are at /v1/events.',
      code: 'INVALID_ARGUMENT',
    },
  },
  {
    of: 'GET /v1/ws',
    status: 400,
    body: 'Missing or invalid Sec-WebSocket-Key header',
  },
  {
    of: 'GET /v1/{chainId}/order/{orderId}',
    status: 200,
    path: {
      chainId: 31337,
      orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
    },
    body: {
      orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795387565,
    },
  },
  {
    of: 'GET /v1/{chainId}/order/{orderId}',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see orderId.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'orderId',
          message: 'must be 32 bytes in hex with 0x',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/order/{orderId}',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/{chainId}/order/{orderId}',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'Chain 4242 does not answer at the moment.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see signature.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'signature',
          message: 'must be 65 bytes in hex with 0x',
        },
      ],
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 413,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The body must be at most 64 KiB.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'body',
          message: 'must be at most 64 KiB',
        },
      ],
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 401,
    reason: 'SIGNATURE_INVALID',
    body: {
      error: 'The signature is not by this address over the expected message.',
      code: 'SIGNATURE_INVALID',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 401,
    reason: 'TIMESTAMP_OUT_OF_RANGE',
    body: {
      error: 'The timestamp must be within 5 minutes of the clock.',
      code: 'TIMESTAMP_OUT_OF_RANGE',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 404,
    reason: 'SOLVER_NOT_FOUND',
    body: {
      error: 'This solver is not registered here.',
      code: 'SOLVER_NOT_FOUND',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 200,
    path: {
      chainId: 31337,
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    },
    requestBody: {
      signature:
        '0x9b061ee9da260898b7303a9c93b6274f614b858d3104235cffe8b3d3836ec1aa5e52092adaff12db85d723bc68171367337d023a602c9130f757b3b22c909e201c',
      timestamp: 1795387146100,
    },
    body: {
      status: 'removed',
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 401,
    reason: 'TIMESTAMP_REUSED',
    body: {
      error: 'The timestamp must be newer than the last accepted one, 1795387146100.',
      code: 'TIMESTAMP_REUSED',
    },
  },
  {
    of: 'unrouted',
    status: 404,
    reason: 'ROUTE_NOT_FOUND',
    body: {
      error: 'There is nothing at this path.',
      code: 'ROUTE_NOT_FOUND',
    },
  },
  {
    of: 'unrouted',
    status: 405,
    reason: 'METHOD_NOT_ALLOWED',
    body: {
      error: 'This path takes POST.',
      code: 'METHOD_NOT_ALLOWED',
    },
  },
  {
    of: 'GET /health',
    status: 200,
    body: {
      status: 'degraded',
      version: '0.1.0',
      uptime: 0,
      timestamp: 1795387146129,
      supportedChains: [31337, 4242],
      activeSolvers: {
        '4242': 0,
        '31337': 1,
      },
      database: 'ok',
      chains: [
        {
          chainId: 31337,
          status: 'ok',
          headBlock: 17,
          lagMs: 2129,
        },
        {
          chainId: 4242,
          status: 'down',
        },
      ],
    },
  },
  {
    of: 'GET /health/ready',
    status: 200,
    body: {
      status: 'ready',
    },
  },
  {
    of: 'GET /metrics',
    status: 200,
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 1.4798570000000002\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.116578\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.596435\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795387141\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 249065472\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66527268864\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 331239424\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 58\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.010079499\n',
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 500,
    reason: 'INTERNAL',
    body: {
      error: 'The service failed to answer this request.',
      code: 'INTERNAL',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 500,
    reason: 'INTERNAL',
    body: {
      error: 'The service failed to answer this request.',
      code: 'INTERNAL',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 500,
    reason: 'INTERNAL',
    body: {
      error: 'The service failed to answer this request.',
      code: 'INTERNAL',
    },
  },
  {
    of: 'GET /health',
    status: 500,
    reason: 'INTERNAL',
    body: {
      error: 'The service failed to answer this request.',
      code: 'INTERNAL',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote/stream',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/{chainId}/order/{orderId}',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/chains',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/events',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/ws',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /metrics',
    status: 401,
    body: 'Basic authentication is required.\n',
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 403,
    reason: 'SOLVER_BLOCKED',
    body: {
      error: 'The operator of this instance has blocked this address.',
      code: 'SOLVER_BLOCKED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 503,
    reason: 'DATABASE_UNAVAILABLE',
    body: {
      error: 'The database of this service does not answer at the moment: try again in some seconds.',
      code: 'DATABASE_UNAVAILABLE',
    },
  },
  {
    of: 'DELETE /v1/{chainId}/solvers/{address}',
    status: 503,
    reason: 'DATABASE_UNAVAILABLE',
    body: {
      error: 'The database of this service does not answer at the moment: try again in some seconds.',
      code: 'DATABASE_UNAVAILABLE',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 503,
    reason: 'DATABASE_UNAVAILABLE',
    body: {
      error: 'The database of this service does not answer at the moment: try again in some seconds.',
      code: 'DATABASE_UNAVAILABLE',
    },
  },
  {
    of: 'GET /v1/events',
    status: 503,
    reason: 'DATABASE_UNAVAILABLE',
    body: {
      error: 'The database of this service does not answer at the moment: try again in some seconds.',
      code: 'DATABASE_UNAVAILABLE',
    },
  },
  {
    of: 'GET /health/ready',
    status: 503,
    reason: 'CHAIN_UNAVAILABLE',
    body: {
      error: 'No chain answers at the moment.',
      code: 'CHAIN_UNAVAILABLE',
    },
  },
  {
    of: 'GET /health/ready',
    status: 503,
    reason: 'SHUTTING_DOWN',
    body: {
      error: 'The service is shutting down.',
      code: 'SHUTTING_DOWN',
    },
  },
]

/** A message of the event stream of each type. */
export const events: readonly ExampleEvent[] = [
  {
    type: 'connected',
    supportedChains: [31337, 4242],
    cursor: 'UsocPmJp.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795387565,
    blockNumber: 15,
    cursor: 'UsocPmJp.1.QJJIxH7L',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0x910123fe628b0dc4e1fa7ce1ca6817ae698617eb05429742079792e9652721a2',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    cursor: 'UsocPmJp.2.SttyxaZr',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
    blockNumber: 17,
    cursor: 'UsocPmJp.3.MJcvxyHc',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0x0352d242a2e01bec0bdb9ad1d1d69d6f3de449c06f5d883c628ea695d10c2af2',
    event: 'Settled',
    blockNumber: 17,
    cursor: 'UsocPmJp.4.abpQt6Et',
  },
]
