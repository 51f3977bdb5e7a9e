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
      endpointUrl: 'http://127.0.0.1:38423',
      name: 'Aldous',
      signature:
        '0x0f3276399dbc471925cff7897768ed15ae50a41087318e11d4bee8f11fcc808d7a9c1364ae73ed51720afda1a4c420c5365da030343db6385a8b327e386c73a51c',
      timestamp: 1795399280237,
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
      error: 'The timestamp must be newer than the last accepted one, 1795399280237.',
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
        registeredAt: 1795399280290,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795399280315,
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
      verify: 'best',
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
        depositDeadline: 1795399580,
        fillDeadline: 1795399700,
        nonce: '1',
      },
      solverSignature:
        '0x6806904f85c0c9720a1ffb4cb0d76468e87a0a37b72deab6553859fe0f8c1d7e3d41b2dcd28da909d4f3e4940316115efd57871140b5c9fc17a53ff30267b92e1b',
      depositAddress: '0x9Bd4a511bED059BE958f5d1c16A768fcc0821988',
      orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
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
            depositDeadline: 1795399580,
            fillDeadline: 1795399700,
            nonce: '1',
          },
          solverSignature:
            '0x674236579e9587cad5f4a3f6bf4495dd09f4d21c3e0908a57b51631bfb7ecd1e746b51d40a509d092eb717635ef76e7e27998c31606d1f28493315978db080071c',
          depositAddress: '0xEFbB1Ab26576Ca91a2032E02ba7977b5E825D517',
          orderId: '0x851ba2d8bd8f89964652582db5a9f3fe8353278eb53afb14f2b9d13983754294',
        },
      ],
      quoteId: '658ef15d-9d8d-40f2-80e5-17eb18d40f4d',
      verified: true,
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
      asOf: 1795399280391,
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
    body: ':\n\nevent: quote\ndata: {"quoteId":"c0407d49-81c6-40ed-801b-1064cab141a0","round":1,"quote":{"solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","orderType":0,"outputChainId":31337,"depositDeadline":1795399580,"fillDeadline":1795399700,"nonce":"3"},"solverSignature":"0xeceeb7eeb9350976c7b681d5c901c2a6ddd71aa1b9321b59f8101761a8c194a3339c8fd462096fb33cd4cb9b8ebb407b8c8c4284a527f8989d9af649f45d4c871c","depositAddress":"0xF8541037b1baF79e6A6f3793c349d727D7fBdadE","orderId":"0x9a1929062e4c4d8b1ae5d81ad159ee754918902ed8594c918b49f3ded346cb2b","asked":2,"answered":1}\n',
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
      quoteId: '73d4af43-9239-4009-806e-8b2994f6d636',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: '18d7cf13-618b-402a-80cb-315f5f75ae47',
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
      quoteId: '658ef15d-9d8d-40f2-80e5-17eb18d40f4d',
    },
    body: {
      quoteId: '658ef15d-9d8d-40f2-80e5-17eb18d40f4d',
      chainId: 31337,
      requestedAt: 1795399280343,
      durationMs: 19,
      outcome: 'QUOTED',
      request: {
        inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        orderType: 'EXACT_INPUT',
        amount: '1000000000000000000',
        userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        destinationChainId: 31337,
        depositMode: 'CONTRACT',
        depositDeadline: 1795399580,
        fillDeadline: 1795399700,
      },
      solvers: [
        {
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          outcome: 'QUOTED',
          rank: 1,
          durationMs: 14,
          inputAmount: '1000000000000000000',
          outputAmount: '2498750000',
          explanation: 'The best offer: it is the one that the caller got first.',
          verified: true,
        },
        {
          solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
          outcome: 'QUOTED',
          rank: 2,
          durationMs: 16,
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
    body: 'id: bx8knt_I.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"bx8knt_I.0"}\n\nid: bx8knt_I.1.DrF3aoS0\ndata: {"type":"Deposited","chainId":31337,"orderId":"0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795399700,"blockNumber":15,"transactionHash":"0xf08ccb3bb917f1058f37217ffb7ae9b6b3ee3aa9121e36827d687f9bf06e8b39","logIndex":0,"blockTime":1795399279,"cursor":"bx8knt_I.1.DrF3aoS0"}\n\nid: bx8knt_I.2.1Pb08tSc\ndata: {"type":"Refunded","chainId":31337,"orderId":"0x118dc4b5d3d4a020d3e79d66ef72557b0eab7a7ead8be4f91f3c488f4a84b828","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"transactionHash":"0x8392fab9dd657deaed3653b9075286b4960cb34c6d216849ca5001adc455a509","logIndex":2,"blockTime":1795399279,"cursor":"bx8knt_I.2.1Pb08tSc"}\n',
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
      orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
    },
    body: {
      orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795399700,
      deposited: {
        blockNumber: 15,
        blockTime: 1795399279,
        transactionHash: '0xf08ccb3bb917f1058f37217ffb7ae9b6b3ee3aa9121e36827d687f9bf06e8b39',
      },
      settled: {
        blockNumber: 17,
        blockTime: 1795399279,
        transactionHash: '0x8547160c08219f435a576986189f4aeec618051f022ac3f6d45f61c269ecac7b',
      },
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
    of: 'GET /v1/{chainId}/orders',
    status: 200,
    path: {
      chainId: 31337,
    },
    body: {
      orders: [
        {
          orderId: '0x118dc4b5d3d4a020d3e79d66ef72557b0eab7a7ead8be4f91f3c488f4a84b828',
          chainId: 31337,
          state: 'REFUNDED',
          user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
          solver: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '281652687922813594615122067',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '72616',
          outputChainId: 31337,
          fillDeadline: 1795399278,
          refunded: {
            blockNumber: 16,
            blockTime: 1795399279,
            transactionHash: '0x8392fab9dd657deaed3653b9075286b4960cb34c6d216849ca5001adc455a509',
          },
        },
        {
          orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
          chainId: 31337,
          state: 'SETTLED',
          user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '1000000000000000000',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '2498750000',
          outputChainId: 31337,
          fillDeadline: 1795399700,
          deposited: {
            blockNumber: 15,
            blockTime: 1795399279,
            transactionHash: '0xf08ccb3bb917f1058f37217ffb7ae9b6b3ee3aa9121e36827d687f9bf06e8b39',
          },
          settled: {
            blockNumber: 17,
            blockTime: 1795399279,
            transactionHash: '0x8547160c08219f435a576986189f4aeec618051f022ac3f6d45f61c269ecac7b',
          },
        },
      ],
      nextPageToken: '',
    },
  },
  {
    of: 'GET /v1/{chainId}/orders',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see user, state.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'user',
          message: 'must be a 20-byte address in hex with 0x',
        },
        {
          field: 'state',
          message: 'must be DEPOSITED or SETTLED or REFUNDED',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/orders',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
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
        '0x7194ddcfe49a86345e6fa92393585807b906a45c5f35278296bf81b846735b4d48aa49ae3d5ee98e4cd3031ce1abccd364b012f8fb7d129ea927da63a85dfbee1b',
      timestamp: 1795399280804,
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
      error: 'The timestamp must be newer than the last accepted one, 1795399280804.',
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
      timestamp: 1795399280824,
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
          lagMs: 1824,
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
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 1.4455659999999997\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.135207\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.5807729999999998\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795399275\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 259559424\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66527604736\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 337833984\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 59\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.004106579\n',
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
    of: 'GET /v1/{chainId}/orders',
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
    of: 'GET /v1/{chainId}/orders',
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
    cursor: 'bx8knt_I.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795399700,
    blockNumber: 15,
    transactionHash: '0xf08ccb3bb917f1058f37217ffb7ae9b6b3ee3aa9121e36827d687f9bf06e8b39',
    logIndex: 0,
    blockTime: 1795399279,
    cursor: 'bx8knt_I.1.DrF3aoS0',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0x118dc4b5d3d4a020d3e79d66ef72557b0eab7a7ead8be4f91f3c488f4a84b828',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    transactionHash: '0x8392fab9dd657deaed3653b9075286b4960cb34c6d216849ca5001adc455a509',
    logIndex: 2,
    blockTime: 1795399279,
    cursor: 'bx8knt_I.2.1Pb08tSc',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
    blockNumber: 17,
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    transactionHash: '0x86ebef3f67200003ac9da8f12ac191984b937b5e3e54dcb376698ba931b52ccf',
    logIndex: 0,
    blockTime: 1795399279,
    cursor: 'bx8knt_I.3.NP5QNgyY',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0x9dc804893b42682e10a80f6ce19abb175191631589154563f5418f149de4922f',
    event: 'Settled',
    blockNumber: 17,
    transactionHash: '0x86ebef3f67200003ac9da8f12ac191984b937b5e3e54dcb376698ba931b52ccf',
    logIndex: 0,
    blockTime: 1795399279,
    cursor: 'bx8knt_I.4.vz9K9x44',
  },
]
