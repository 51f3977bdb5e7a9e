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
      endpointUrl: 'http://127.0.0.1:36095',
      name: 'Aldous',
      signature:
        '0x1898368ec0f43df0cb41f7d33d9daaa33ebe30627965a1295acc225ceb78f74d21a675f30bf507eb3cd9ce93ee8715883e48c9e75953849a16fa85d217f07dc61b',
      timestamp: 1795390448137,
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
      error: 'The timestamp must be newer than the last accepted one, 1795390448137.',
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
        registeredAt: 1795390448193,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795390448221,
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
        depositDeadline: 1795390748,
        fillDeadline: 1795390868,
        nonce: '1',
      },
      solverSignature:
        '0xdb041fd343ccad2ae6c5002cb6b38a09025e4c31e261ae261838cf0b9b6ca07827f814e6b8c7c1de455cd0544547a67fcf3a24e1b2fdd9f7645aec962e0cbbb31c',
      depositAddress: '0x563672AfBB7Bc708FDFf067a64Ec353cA7338814',
      orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
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
            depositDeadline: 1795390748,
            fillDeadline: 1795390868,
            nonce: '1',
          },
          solverSignature:
            '0x130fb33a7e40c40a2c2464625010384967f2d2302e86831b5b62887a9b23004b7d5f9ef8744b648c49a087075903ec004da1e76d205f077df1473e8c3c78d8301b',
          depositAddress: '0xA26d1C2F6DA678303288Ea3023A53fb3A58593A6',
          orderId: '0x98c526dc34f64390e8b1ada4a76d58528933f2ca337febc34a684100649e88e8',
        },
      ],
      quoteId: '6a10a12e-810e-408c-807d-41d40d6dedee',
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
      asOf: 1795390448270,
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
    body: ':\n\nevent: quote\ndata: {"quoteId":"6e8eab89-c959-40b8-800b-5da5a3c476cf","round":1,"quote":{"solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","orderType":0,"outputChainId":31337,"depositDeadline":1795390748,"fillDeadline":1795390868,"nonce":"3"},"solverSignature":"0xae5c9f924613a872f0f0cb9a80f605e58b347495a6d503c39bdb965c1439959957f3714dc328c29d3a1c6941e51968090daa3444ac1051a6322ccc9cb34480f61c","depositAddress":"0xa4551b88C35fbAE1332eEE30C8Ee554a131BcF0d","orderId":"0x51c55aa32c3775a7a75b792c320ab42cd63689ca6032848e14fd1643e552eb00","asked":2,"answered":1}\n',
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
      quoteId: '112951dc-35c9-40ef-8074-c2244278be98',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: '032e8421-b4c7-4080-8011-8eaf20edfe96',
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
      quoteId: '6a10a12e-810e-408c-807d-41d40d6dedee',
    },
    body: {
      quoteId: '6a10a12e-810e-408c-807d-41d40d6dedee',
      chainId: 31337,
      requestedAt: 1795390448239,
      durationMs: 8,
      outcome: 'QUOTED',
      request: {
        inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        orderType: 'EXACT_INPUT',
        amount: '1000000000000000000',
        userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        destinationChainId: 31337,
        depositMode: 'CONTRACT',
        depositDeadline: 1795390748,
        fillDeadline: 1795390868,
      },
      solvers: [
        {
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          outcome: 'QUOTED',
          rank: 1,
          durationMs: 5,
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
    body: 'id: LXdDiUBo.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"LXdDiUBo.0"}\n\nid: LXdDiUBo.1.fL1jGg40\ndata: {"type":"Deposited","chainId":31337,"orderId":"0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795390868,"blockNumber":15,"cursor":"LXdDiUBo.1.fL1jGg40"}\n\nid: LXdDiUBo.2.rD9T2oIC\ndata: {"type":"Refunded","chainId":31337,"orderId":"0xf6e6b6c280a9b122c2fd00e7d027aeff280de255abad6a9a97593f1652e3010b","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"cursor":"LXdDiUBo.2.rD9T2oIC"}\n\nid: LXdDiUBo.3.tiaewKgc\ndata: {"type":"Settled","chainId":31337,"orderId":"0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69","blockNumber":17,"cursor":"LXdDiUBo.3.tiaewKgc"}\n\nid: LXdDiUBo.4.L87JdVif\ndata: {"type":"Reverted","chainId":31337,"orderId":"0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69","event":"Settled","blockNumber":17,"cursor":"LXdDiUBo.4.L87JdVif"}\n',
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
      orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
    },
    body: {
      orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795390868,
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
        '0x0cee6a5af7c37808580ed62940c2a4d680572e475cab6940926b6d59d50602935539b230ea1afef2f947bafd91ffb9beb998b79aa435ba4ff1e8fee6dac1fa4a1c',
      timestamp: 1795390448611,
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
      error: 'The timestamp must be newer than the last accepted one, 1795390448611.',
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
      timestamp: 1795390448627,
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
          lagMs: 2627,
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
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 1.3854849999999999\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.109205\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.49469\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795390444\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 251817984\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66525818880\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 334311424\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 58\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.003935987\n',
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
    cursor: 'LXdDiUBo.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795390868,
    blockNumber: 15,
    cursor: 'LXdDiUBo.1.fL1jGg40',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0xf6e6b6c280a9b122c2fd00e7d027aeff280de255abad6a9a97593f1652e3010b',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    cursor: 'LXdDiUBo.2.rD9T2oIC',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
    blockNumber: 17,
    cursor: 'LXdDiUBo.3.tiaewKgc',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0x48d20d0ce8d3261744901bac7a888504b584cedc0c569f8880a7f3699fa05d69',
    event: 'Settled',
    blockNumber: 17,
    cursor: 'LXdDiUBo.4.L87JdVif',
  },
]
