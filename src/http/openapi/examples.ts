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
      endpointUrl: 'http://127.0.0.1:40311',
      name: 'Aldous',
      signature:
        '0xedbd216f420693a376a3f521a685df24bffcc326558e39674c3af6414ce0333d727b265b75af2662a1ce47b92ea693e8f8e4009050a484f62f15721ab456e9a11c',
      timestamp: 1795493930632,
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
      error: 'The timestamp must be newer than the last accepted one, 1795493930632.',
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
        registeredAt: 1795493930691,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795493930721,
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
    of: 'GET /v1/{chainId}/solvers/stats',
    status: 200,
    path: {
      chainId: 31337,
    },
    body: {
      window: '24h',
      solvers: [
        {
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          name: 'Aldous',
          asked: 0,
          quoted: 0,
          declined: 0,
          invalid: 0,
          failed: 0,
          late: 0,
          won: 0,
          deposited: 0,
          settled: 0,
          refunded: 0,
          totalBond: '1000001000000000000',
          freeBond: '1000001000000000000',
          circuitBreaker: 'CLOSED',
        },
        {
          solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
          name: 'Beatrix',
          asked: 0,
          quoted: 0,
          declined: 0,
          invalid: 0,
          failed: 0,
          late: 0,
          won: 0,
          deposited: 0,
          settled: 0,
          refunded: 0,
          totalBond: '1000001000000000000',
          freeBond: '1000001000000000000',
          circuitBreaker: 'CLOSED',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/stats',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see window.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'window',
          message: 'must be 1h, 24h, 7d or 30d',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/stats',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
    status: 200,
    path: {
      chainId: 31337,
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    },
    body: {
      window: '24h',
      stats: {
        solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
        name: 'Aldous',
        asked: 0,
        quoted: 0,
        declined: 0,
        invalid: 0,
        failed: 0,
        late: 0,
        won: 0,
        deposited: 0,
        settled: 0,
        refunded: 0,
        totalBond: '1000001000000000000',
        freeBond: '1000001000000000000',
        circuitBreaker: 'CLOSED',
      },
      hours: [],
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see window.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'window',
          message: 'must be 1h, 24h, 7d or 30d',
        },
      ],
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
    status: 404,
    reason: 'SOLVER_NOT_FOUND',
    body: {
      error: 'This solver is not registered on this chain, and has no counts in the window.',
      code: 'SOLVER_NOT_FOUND',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
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
          verifyMax: 'best',
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
          verifyMax: 'best',
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
        depositDeadline: 1795494230,
        fillDeadline: 1795494350,
        nonce: '1',
      },
      solverSignature:
        '0x97e58051d04ae7a1e8209314ef5880fa32734f8c2cf1cbbe3dc54d6dc317e5d456d8c7dd368bd4142e0d4a88cbafbbf8931e81605327f106504dfc1bae9ecc1e1c',
      depositAddress: '0x8aCBBe74459B446F5553240d3D0bC0CdA248616E',
      orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
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
            depositDeadline: 1795494230,
            fillDeadline: 1795494350,
            nonce: '1',
          },
          solverSignature:
            '0x2c83b20d37b3ca24557cedf58c021ebb81e8399d228f61b650041043f58096771e0d30b1bfc3aa2b2ba840d6082ff2e2ccaf80e196857123b5d9da1f85bda9ca1b',
          depositAddress: '0x336EF1E236cdEe283994460530CFb3EbE4dc08d8',
          orderId: '0x99370780adb222fcd48bdd2f4479cf2c2207042fe5ffb6be4cad9bd805321055',
        },
      ],
      quoteId: 'f3d3bab9-8aa9-40e2-80c1-e480712d894f',
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
      asOf: 1795493930784,
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
    body: ':\n\nevent: quote\ndata: {"quoteId":"71116981-715b-4067-8084-3290cddcc2db","round":1,"quote":{"solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","orderType":0,"outputChainId":31337,"depositDeadline":1795494230,"fillDeadline":1795494350,"nonce":"3"},"solverSignature":"0x85685a8b62cf49913578e243216a05197e0f51a9b09dc27f14a089df6033dcda65d9642e263a8807bab24966c5669a3914eb5e170a356034535433fa74a532d91b","depositAddress":"0xbB7a9eCfEDFBC3fB5F0B3D27321D4715CC9Bfc1e","orderId":"0xa1521c2b2fae7f60b70411a917188f1349e020446d09453ba8f3ec89d4a860ad","asked":2,"answered":1}\n',
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
      quoteId: '3b96ad9c-d07f-4050-805b-fb1fcbb03ecd',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: '18679b56-cdf2-40cb-8064-2bc27b52acb8',
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
      quoteId: 'f3d3bab9-8aa9-40e2-80c1-e480712d894f',
    },
    body: {
      quoteId: 'f3d3bab9-8aa9-40e2-80c1-e480712d894f',
      chainId: 31337,
      requestedAt: 1795493930752,
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
        depositDeadline: 1795494230,
        fillDeadline: 1795494350,
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
          verified: true,
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
    body: 'id: TCVlL1d7.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"TCVlL1d7.0"}\n\nid: TCVlL1d7.1.kYiPtlmt\ndata: {"type":"Deposited","chainId":31337,"orderId":"0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795494350,"blockNumber":15,"transactionHash":"0x0d596749b26f36bd6fcd2e1c6432b861bfe109005cb103e00b00712d8cfe2af7","logIndex":0,"blockTime":1795493929,"cursor":"TCVlL1d7.1.kYiPtlmt"}\n\nid: TCVlL1d7.2.uzwFd4Ma\ndata: {"type":"Refunded","chainId":31337,"orderId":"0x1a371cea50fc6f4d59b1216a5860e2b32fb8e4f7fbe8c97b7eddfc004981fc4e","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"transactionHash":"0xf4785be0b3faa6f98c9dabacc886ce4ec09cbd3c12c90de30f5f64dfc1cced93","logIndex":2,"blockTime":1795493929,"cursor":"TCVlL1d7.2.uzwFd4Ma"}\n',
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
      orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
    },
    body: {
      orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795494350,
      deposited: {
        blockNumber: 15,
        blockTime: 1795493929,
        transactionHash: '0x0d596749b26f36bd6fcd2e1c6432b861bfe109005cb103e00b00712d8cfe2af7',
      },
      settled: {
        blockNumber: 17,
        blockTime: 1795493929,
        transactionHash: '0x60fef4c042ef04abf4d8526762ac0b107a3c1fa073af72e5bbc070859de69112',
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
          orderId: '0x1a371cea50fc6f4d59b1216a5860e2b32fb8e4f7fbe8c97b7eddfc004981fc4e',
          chainId: 31337,
          state: 'REFUNDED',
          user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
          solver: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '281652687922813594615122067',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '72616',
          outputChainId: 31337,
          fillDeadline: 1795493928,
          refunded: {
            blockNumber: 16,
            blockTime: 1795493929,
            transactionHash: '0xf4785be0b3faa6f98c9dabacc886ce4ec09cbd3c12c90de30f5f64dfc1cced93',
          },
        },
        {
          orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
          chainId: 31337,
          state: 'SETTLED',
          user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '1000000000000000000',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '2498750000',
          outputChainId: 31337,
          fillDeadline: 1795494350,
          deposited: {
            blockNumber: 15,
            blockTime: 1795493929,
            transactionHash: '0x0d596749b26f36bd6fcd2e1c6432b861bfe109005cb103e00b00712d8cfe2af7',
          },
          settled: {
            blockNumber: 17,
            blockTime: 1795493929,
            transactionHash: '0x60fef4c042ef04abf4d8526762ac0b107a3c1fa073af72e5bbc070859de69112',
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
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 200,
    path: {
      chainId: 31337,
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    },
    requestBody: {
      timestamp: 1795493931131,
      audience: 'https://quotes.example',
      signature:
        '0x5d94db855dea6b1373cb2571a11d10543b9da6b1114edc01355f2862abfdfea356e421a5ab7ecc4c5e5706075c174561acdce94337471c92abe1a779af961aa61b',
      pageSize: 2,
    },
    body: {
      results: [
        {
          quoteId: '1fe4581a-3fba-b750-a7f3-20f691758d73',
          requestedAt: 1795493930857,
          kind: 'FIRM',
          request: {
            inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
            outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
            orderType: 'EXACT_INPUT',
            amount: '1000000000000000000',
            userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            destinationChainId: 31337,
            depositMode: 'CONTRACT',
            depositDeadline: 1795494230,
            fillDeadline: 1795494350,
          },
          result: {
            solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
            outcome: 'DECLINED',
            durationMs: 1,
            httpStatus: 422,
            explanation: 'The solver answered with status 422; only 200 carries an offer.',
          },
        },
        {
          quoteId: 'd764445a-8c00-b012-be8f-c542c91e8b5a',
          requestedAt: 1795493930855,
          kind: 'FIRM',
          request: {
            inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
            outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
            orderType: 'EXACT_INPUT',
            amount: '1000000000000000000',
            userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            destinationChainId: 31337,
            depositMode: 'CONTRACT',
            depositDeadline: 1795494230,
            fillDeadline: 1795494350,
          },
          result: {
            solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
            outcome: 'DECLINED',
            durationMs: 30,
            httpStatus: 422,
            explanation: 'The solver answered with status 422; only 200 carries an offer.',
          },
        },
      ],
      nextPageToken: 'sDiSZMkTn_FcAeV5aVt5Snk3B275iXdydY9VpVAfIRwqAtVcdeKqTPiSVUO6NQl5ux0',
      circuitBreaker: 'CLOSED',
      totalBond: '1000001000000000000',
      freeBond: '1000001000000000000',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 400,
    reason: 'INVALID_ARGUMENT',
    body: {
      error: 'The request is not valid: see pageToken, audience.',
      code: 'INVALID_ARGUMENT',
      details: [
        {
          field: 'pageToken',
          message: 'must be the nextPageToken of a page of this solver on this chain',
        },
        {
          field: 'audience',
          message:
            'must be an http or https origin without path or credentials, such as https://quotes.example',
        },
      ],
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
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
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here. Supported: 31337, 4242.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 401,
    reason: 'SIGNATURE_INVALID',
    body: {
      error: 'The signature is not by this address over the expected message.',
      code: 'SIGNATURE_INVALID',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 401,
    reason: 'TIMESTAMP_OUT_OF_RANGE',
    body: {
      error: 'The timestamp must be within 5 minutes of the clock.',
      code: 'TIMESTAMP_OUT_OF_RANGE',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 403,
    reason: 'AUDIENCE_REJECTED',
    body: {
      error:
        'The audience must be an origin of this instance (PUBLIC_URLS). It is the one that the solver dials.',
      code: 'AUDIENCE_REJECTED',
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
        '0xf662ad0fe3579d7f352ebe1594ad98cc248d366f6f21f6e7f08ae26f34c647804311532d2c081baa63c43a9318d2f2b4ebeb2b91ec8b68a727be4966153989281c',
      timestamp: 1795493931142,
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
      error: 'The timestamp must be newer than the last accepted one, 1795493931142.',
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
      timestamp: 1795493931161,
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
          lagMs: 2161,
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
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 1.4980259999999999\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.128865\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.626891\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795493926\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 269074432\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66544058368\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 345665536\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 61\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.001450076\n',
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
    of: 'GET /v1/{chainId}/solvers/stats',
    status: 429,
    reason: 'RATE_LIMITED',
    body: {
      error: 'Too many requests: at most 1 in this window, try again in 60 s.',
      code: 'RATE_LIMITED',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
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
    of: 'POST /v1/{chainId}/solvers/{address}/results',
    status: 404,
    reason: 'QUOTE_NOT_FOUND',
    body: {
      error: 'This instance keeps no records of quotes (QUOTE_RECORD_HOURS is 0).',
      code: 'QUOTE_NOT_FOUND',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/{address}/results',
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
    of: 'POST /v1/{chainId}/solvers/{address}/results',
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
    of: 'GET /v1/{chainId}/solvers/stats',
    status: 503,
    reason: 'DATABASE_UNAVAILABLE',
    body: {
      error: 'The database of this service does not answer at the moment: try again in some seconds.',
      code: 'DATABASE_UNAVAILABLE',
    },
  },
  {
    of: 'GET /v1/{chainId}/solvers/{address}/stats',
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
    cursor: 'TCVlL1d7.0',
  },
  {
    type: 'Health',
    chains: [
      {
        chainId: 31337,
        status: 'ok',
        headBlock: 14,
        lagMs: 1899,
        activeSolvers: 2,
      },
      {
        chainId: 4242,
        status: 'down',
        activeSolvers: 0,
      },
    ],
    cursor: 'TCVlL1d7.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795494350,
    blockNumber: 15,
    transactionHash: '0x0d596749b26f36bd6fcd2e1c6432b861bfe109005cb103e00b00712d8cfe2af7',
    logIndex: 0,
    blockTime: 1795493929,
    cursor: 'TCVlL1d7.1.kYiPtlmt',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0x1a371cea50fc6f4d59b1216a5860e2b32fb8e4f7fbe8c97b7eddfc004981fc4e',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    transactionHash: '0xf4785be0b3faa6f98c9dabacc886ce4ec09cbd3c12c90de30f5f64dfc1cced93',
    logIndex: 2,
    blockTime: 1795493929,
    cursor: 'TCVlL1d7.2.uzwFd4Ma',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
    blockNumber: 17,
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    transactionHash: '0x7753b559f1dc4bffaeec30c7ba3b942ab74b600bbf22c9184ca34425d0ecb32a',
    logIndex: 0,
    blockTime: 1795493929,
    cursor: 'TCVlL1d7.3.cBF-m5Pq',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0xee0f86d0e0c18a0937f2f542dd4f7844eecc198e56a96fc8d9d178fea33c6fa8',
    event: 'Settled',
    blockNumber: 17,
    transactionHash: '0x7753b559f1dc4bffaeec30c7ba3b942ab74b600bbf22c9184ca34425d0ecb32a',
    logIndex: 0,
    blockTime: 1795493929,
    cursor: 'TCVlL1d7.4.TZzieof0',
  },
]
