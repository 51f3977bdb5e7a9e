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
      endpointUrl: 'http://127.0.0.1:38431',
      name: 'Aldous',
      signature:
        '0xae41f82a022e8a306cce02cfa5fcd9462a0a74c3a7b6e5790cfa5cd8cafe4c4d1ab30ea9c7d1ee4d16e21cbebdb66e3247eadb98924921bc34f9322ed84ee1351c',
      timestamp: 1795434998098,
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
      error: 'The timestamp must be newer than the last accepted one, 1795434998098.',
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
        registeredAt: 1795434998164,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795434998184,
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
        depositDeadline: 1795435298,
        fillDeadline: 1795435418,
        nonce: '1',
      },
      solverSignature:
        '0x1640f5b19649874c9198fd223afcd3430f7876808b16729093cc6380e1464d051c94f511bd898d385ab7805c9616fe779eed52089ad901c003df24558dcb9d481c',
      depositAddress: '0xff1a4049D73943AB4EcB0d9D6ff015FcBe65f12c',
      orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
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
            depositDeadline: 1795435298,
            fillDeadline: 1795435418,
            nonce: '1',
          },
          solverSignature:
            '0x912954f63a6dbcffbf335c75a15241abc0d07bdec93e6f348fa6cd66d2e77fd50beb3fdccb32e7e9d2e67252021fde66405211e39c10adc570e4c53fec11d9131b',
          depositAddress: '0x586629cD8678A078D916e82a972d1D82DCf775Bb',
          orderId: '0x340fae338ab8cbcf8ccc48b4e24f051164c2a2154f6772ed4bb3d51d39323aaf',
        },
      ],
      quoteId: '69152f00-1101-40b6-8021-217526461143',
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
      asOf: 1795434998225,
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
    body: ':\n\nevent: quote\ndata: {"quoteId":"21b02048-8e78-408e-8024-fff37aceeeb9","round":1,"quote":{"solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","orderType":0,"outputChainId":31337,"depositDeadline":1795435298,"fillDeadline":1795435418,"nonce":"3"},"solverSignature":"0x69c2170514017e058b947bf2fccc4ab9742d9401a160b3b8b6462ebd08d8a07842217740dbd125a64f41230303007db10fa88cf12c83d437203e45f11f0e03341c","depositAddress":"0x4601090e1fedc21Dbe005a87f62E75ef1507E492","orderId":"0x98d5907078302fbcef1b905ae7a50a8f379852832b1dcb8387d7080feb701d09","asked":2,"answered":1}\n',
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
      quoteId: '8704d492-27fd-401f-8097-b51df3d01b0b',
    },
  },
  {
    of: 'POST /v1/{chainId}/price',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: '47d6161c-644c-40af-8002-9013a3140282',
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
      quoteId: '69152f00-1101-40b6-8021-217526461143',
    },
    body: {
      quoteId: '69152f00-1101-40b6-8021-217526461143',
      chainId: 31337,
      requestedAt: 1795434998199,
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
        depositDeadline: 1795435298,
        fillDeadline: 1795435418,
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
    body: 'id: JEPSP4-Y.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"JEPSP4-Y.0"}\n\nid: JEPSP4-Y.1.ktk5S9FF\ndata: {"type":"Deposited","chainId":31337,"orderId":"0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795435418,"blockNumber":15,"transactionHash":"0x30b94605788b19c5fd1054ed62b3cc65630ff67355b5a847e022f6b4657f27de","logIndex":0,"blockTime":1795434996,"cursor":"JEPSP4-Y.1.ktk5S9FF"}\n\nid: JEPSP4-Y.2.4kgRxC0g\ndata: {"type":"Refunded","chainId":31337,"orderId":"0x10b4d81add19d41dd06bf4f370b316a80dfbac0f1aac5cebda3f35689f085085","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"transactionHash":"0x58a57fed854ed3511c9ebfd9421c4b4b249cbbb7da40564a128752bc36298d39","logIndex":2,"blockTime":1795434996,"cursor":"JEPSP4-Y.2.4kgRxC0g"}\n',
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
      orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
    },
    body: {
      orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795435418,
      deposited: {
        blockNumber: 15,
        blockTime: 1795434996,
        transactionHash: '0x30b94605788b19c5fd1054ed62b3cc65630ff67355b5a847e022f6b4657f27de',
      },
      settled: {
        blockNumber: 17,
        blockTime: 1795434996,
        transactionHash: '0x4311f847462042c16a6e1b1885668164051b64f46d8f3bcb74438e1d82993b52',
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
          orderId: '0x10b4d81add19d41dd06bf4f370b316a80dfbac0f1aac5cebda3f35689f085085',
          chainId: 31337,
          state: 'REFUNDED',
          user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
          solver: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '281652687922813594615122067',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '72616',
          outputChainId: 31337,
          fillDeadline: 1795434995,
          refunded: {
            blockNumber: 16,
            blockTime: 1795434996,
            transactionHash: '0x58a57fed854ed3511c9ebfd9421c4b4b249cbbb7da40564a128752bc36298d39',
          },
        },
        {
          orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
          chainId: 31337,
          state: 'SETTLED',
          user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
          inputAmount: '1000000000000000000',
          outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
          outputAmount: '2498750000',
          outputChainId: 31337,
          fillDeadline: 1795435418,
          deposited: {
            blockNumber: 15,
            blockTime: 1795434996,
            transactionHash: '0x30b94605788b19c5fd1054ed62b3cc65630ff67355b5a847e022f6b4657f27de',
          },
          settled: {
            blockNumber: 17,
            blockTime: 1795434996,
            transactionHash: '0x4311f847462042c16a6e1b1885668164051b64f46d8f3bcb74438e1d82993b52',
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
      timestamp: 1795434998575,
      audience: 'https://quotes.example',
      signature:
        '0x0b80c748f9adaedef3d1cf10a807ec184c0f126c0005d257c701d687b394a84a091855e24e672b02ca4092e5daf42ed1dece9a9c189eab73048d699c0a18d2f31b',
      pageSize: 2,
    },
    body: {
      results: [
        {
          quoteId: 'dd0775ea-c287-78c7-33a6-a095cc4557bf',
          requestedAt: 1795434998277,
          kind: 'FIRM',
          request: {
            inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
            outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
            orderType: 'EXACT_INPUT',
            amount: '1000000000000000000',
            userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            destinationChainId: 31337,
            depositMode: 'CONTRACT',
            depositDeadline: 1795435298,
            fillDeadline: 1795435418,
          },
          result: {
            solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
            outcome: 'DECLINED',
            durationMs: 2,
            httpStatus: 422,
            explanation: 'The solver answered with status 422; only 200 carries an offer.',
          },
        },
        {
          quoteId: 'dd6aab28-ce59-c7bf-9659-648a47b7eb3c',
          requestedAt: 1795434998272,
          kind: 'FIRM',
          request: {
            inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
            outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
            orderType: 'EXACT_INPUT',
            amount: '1000000000000000000',
            userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
            destinationChainId: 31337,
            depositMode: 'CONTRACT',
            depositDeadline: 1795435298,
            fillDeadline: 1795435418,
          },
          result: {
            solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
            outcome: 'DECLINED',
            durationMs: 36,
            httpStatus: 422,
            explanation: 'The solver answered with status 422; only 200 carries an offer.',
          },
        },
      ],
      nextPageToken: '0UK-vzEpAOLc187XSerl-6tqTyEUiQ5BDWlgaKcwvewSDhxDsuNyKC80uVPMCWj_bKc',
      circuitBreaker: 'CLOSED',
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
      details: [
        {
          field: 'signature',
          message:
            'must be an EIP-191 signature by 0x15d34aaf54267db7d7c367839aaf71a00a2c6a65 over "Service Solver Results\\nAddress: 0x15d34aaf54267db7d7c367839aaf71a00a2c6a65\\nAudience: https://quotes.example\\nTimestamp: 1795434998575"',
        },
      ],
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
      details: [
        {
          field: 'audience',
          message: 'must be an origin of this instance',
        },
      ],
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
        '0x0623cec49bf747dbba0704daf5289c2ae1a8f3b7d5c17b9dd9ca8974cb8ce28d0c59d69175213f54167afb9a93b4cf8081460338798bfbc011cb1fb961ab77fd1c',
      timestamp: 1795434998588,
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
      error: 'The timestamp must be newer than the last accepted one, 1795434998588.',
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
      timestamp: 1795434998611,
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
          lagMs: 2611,
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
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 1.3086110000000002\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.14240399999999998\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.4510150000000002\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795434992\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 251478016\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66523103232\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 335138816\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 61\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.005370165\n',
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
    cursor: 'JEPSP4-Y.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795435418,
    blockNumber: 15,
    transactionHash: '0x30b94605788b19c5fd1054ed62b3cc65630ff67355b5a847e022f6b4657f27de',
    logIndex: 0,
    blockTime: 1795434996,
    cursor: 'JEPSP4-Y.1.ktk5S9FF',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0x10b4d81add19d41dd06bf4f370b316a80dfbac0f1aac5cebda3f35689f085085',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    transactionHash: '0x58a57fed854ed3511c9ebfd9421c4b4b249cbbb7da40564a128752bc36298d39',
    logIndex: 2,
    blockTime: 1795434996,
    cursor: 'JEPSP4-Y.2.4kgRxC0g',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
    blockNumber: 17,
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    transactionHash: '0x2c2a651eb7c04e10be0beb075870da1648d10218ee7905bc53177802f17737ff',
    logIndex: 0,
    blockTime: 1795434996,
    cursor: 'JEPSP4-Y.3.UzBAIcC6',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0x58c11ca9adbbf2989e862717ac2632c4656eddcfcc71290ef87688f6a3e201a0',
    event: 'Settled',
    blockNumber: 17,
    transactionHash: '0x2c2a651eb7c04e10be0beb075870da1648d10218ee7905bc53177802f17737ff',
    logIndex: 0,
    blockTime: 1795434996,
    cursor: 'JEPSP4-Y.4.9lgsPPVG',
  },
]
