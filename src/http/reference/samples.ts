// Written by test/service/reference-capture.ts from a real run. Do not edit.
import type { EventSample, Sample } from './sample.js'

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
          message: 'must be 1 to 64 characters without control characters',
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
      error: 'This chain is not supported here.',
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
      error: 'The endpoint must be at a public IP address.',
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
      endpointUrl: 'http://127.0.0.1:39657',
      name: 'Aldous',
      signature:
        '0x9b545f483565682c4f98353479693d291aa4778c7fdade7ca4c3b545093ef9c274d51273a01a7afedf1e9a7c4ad137b4367f934db0d7cabbbcd7769a19ed982e1b',
      timestamp: 1795277422114,
    },
    body: {
      status: 'registered',
      address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 401,
    reason: 'TIMESTAMP_REUSED',
    body: {
      error: 'The timestamp must be newer than the last accepted one, 1795277422114.',
      code: 'TIMESTAMP_REUSED',
    },
  },
  {
    of: 'POST /v1/{chainId}/solvers/register',
    status: 403,
    reason: 'SOLVER_BARRED',
    body: {
      error: 'The operator of this instance has barred this address.',
      code: 'SOLVER_BARRED',
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
        registeredAt: 1795277422167,
      },
      {
        address: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
        name: 'Beatrix',
        registeredAt: 1795277422182,
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
      error: 'This chain is not supported here.',
      code: 'CHAIN_NOT_SUPPORTED',
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
        depositDeadline: 1795277722,
        fillDeadline: 1795277842,
        nonce: '1',
      },
      solverSignature:
        '0x952d9d84ed5b47d9638163cad9623f9f551a7227653e7661e0bb10e97e6ae63c30e918358c810749dbc0661b046e6af1332c7a4a592912d3c3631bb5175f9f781c',
      depositAddress: '0xC7cC9A76906699Dc3E1f030a3387B2fd6E0cbaa0',
      orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
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
            depositDeadline: 1795277722,
            fillDeadline: 1795277842,
            nonce: '1',
          },
          solverSignature:
            '0xa0cf7b86eafaad4062e11e19c93215b0868466c42109fe6de49fab3b924800cd18f6a675ceb4f8f3e3023b4ec854559c93b948d8318fa75c2ed54b402409006e1b',
          depositAddress: '0x78a3567AD460b6681030276139f06d7Da48095A7',
          orderId: '0x708059ed553f8a3420371047847ef9da12acb74412d243428fc8c5ba689762ec',
        },
      ],
      quoteId: '885cd670-56c3-446e-a910-a2ed7d173db9',
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
      error: 'This chain is not supported here.',
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
    of: 'POST /v1/{chainId}/quote',
    status: 503,
    reason: 'NO_QUOTES',
    body: {
      error: 'No solver gave a valid quote in time.',
      code: 'NO_QUOTES',
      quoteId: 'd7634dbd-deb0-48da-8847-6bdcf6e22429',
    },
  },
  {
    of: 'POST /v1/{chainId}/quote',
    status: 503,
    reason: 'SOLVERS_BUSY',
    body: {
      error: 'All connections to solvers are taken: try again in 1 s.',
      code: 'SOLVERS_BUSY',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 200,
    path: {
      chainId: 31337,
      quoteId: '885cd670-56c3-446e-a910-a2ed7d173db9',
    },
    body: {
      quoteId: '885cd670-56c3-446e-a910-a2ed7d173db9',
      chainId: 31337,
      requestedAt: 1795277422205,
      durationMs: 9,
      outcome: 'QUOTED',
      asked: {
        inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
        outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
        orderType: 'EXACT_INPUT',
        amount: '1000000000000000000',
        userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        destinationChainId: 31337,
        depositMode: 'CONTRACT',
        depositDeadline: 1795277722,
        fillDeadline: 1795277842,
      },
      solvers: [
        {
          solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
          outcome: 'QUOTED',
          rank: 1,
          durationMs: 9,
          inputAmount: '1000000000000000000',
          outputAmount: '2498750000',
          explanation: 'The best offer: it is the one that the caller got first.',
        },
        {
          solver: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
          outcome: 'QUOTED',
          rank: 2,
          durationMs: 8,
          inputAmount: '1000000000000000000',
          outputAmount: '2497000000',
          explanation: "A valid offer; the best one was 1750000 of the output token's smallest unit more.",
        },
      ],
      bestAmount: '2498750000',
    },
  },
  {
    of: 'GET /v1/{chainId}/quote/{quoteId}',
    status: 404,
    reason: 'QUOTE_NOT_FOUND',
    body: {
      error: 'There is no record of this quote here, or none any more.',
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
      error: 'This chain is not supported here.',
      code: 'CHAIN_NOT_SUPPORTED',
    },
  },
  {
    of: 'GET /v1/events',
    status: 503,
    reason: 'STREAM_LIMIT_REACHED',
    body: {
      error: 'All 1 stream places are taken (MAX_STREAM_CLIENTS).',
      code: 'STREAM_LIMIT_REACHED',
    },
  },
  {
    of: 'GET /v1/events',
    status: 200,
    body: 'id: -_qRPaN0.0\ndata: {"type":"connected","supportedChains":[31337,4242],"cursor":"-_qRPaN0.0"}\n\nid: -_qRPaN0.1\ndata: {"type":"Deposited","chainId":31337,"orderId":"0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da","user":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","solver":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","inputToken":"0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0","inputAmount":"1000000000000000000","outputToken":"0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9","outputAmount":"2498750000","fillDeadline":1795277842,"blockNumber":15,"cursor":"-_qRPaN0.1"}\n\nid: -_qRPaN0.2\ndata: {"type":"Refunded","chainId":31337,"orderId":"0x572c352bf19ed40165d23c6d2419694a746f94fce11367b4dc8c30d23656a06b","user":"0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f","inputAmount":"281652687922813594615122067","bondSlashed":"3630","blockNumber":16,"cursor":"-_qRPaN0.2"}\n\nid: -_qRPaN0.3\ndata: {"type":"Settled","chainId":31337,"orderId":"0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da","blockNumber":17,"cursor":"-_qRPaN0.3"}\n\nid: -_qRPaN0.4\ndata: {"type":"Reverted","chainId":31337,"orderId":"0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da","event":"Settled","blockNumber":17,"cursor":"-_qRPaN0.4"}\n\nid: -_qRPaN0.5\ndata: {"type":"Settled","chainId":31337,"orderId":"0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da","blockNumber":17,"cursor":"-_qRPaN0.5"}\n\n',
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
      error: 'This cursor is none of this log, or what came after it is no longer kept.',
      code: 'CURSOR_UNKNOWN',
    },
  },
  {
    of: 'GET /v1/events',
    status: 404,
    reason: 'CHAIN_NOT_SUPPORTED',
    body: {
      error: 'This chain is not supported here.',
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
      orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
    },
    body: {
      orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
      chainId: 31337,
      state: 'SETTLED',
      user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
      inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
      inputAmount: '1000000000000000000',
      outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
      outputAmount: '2498750000',
      outputChainId: 31337,
      fillDeadline: 1795277842,
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
      error: 'This chain is not supported here.',
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
      error: 'This chain is not supported here.',
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
        '0x088f636ee6abceb7614b584aebfe903b631e025e4cc7dcb434f0bfb54401ef190b063540ee9199e87100d15042075eb31870671e9e59442bf1bc8cddf373838e1c',
      timestamp: 1795277422428,
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
      error: 'The timestamp must be newer than the last accepted one, 1795277422428.',
      code: 'TIMESTAMP_REUSED',
    },
  },
  {
    of: 'refused',
    status: 404,
    reason: 'ROUTE_NOT_FOUND',
    body: {
      error: 'There is nothing at this path.',
      code: 'ROUTE_NOT_FOUND',
    },
  },
  {
    of: 'refused',
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
      timestamp: 1795277422449,
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
          lagMs: 2449,
        },
        {
          chainId: 4242,
          status: 'down',
        },
      ],
    },
  },
  {
    of: 'GET /metrics',
    status: 200,
    body: '# HELP process_cpu_user_seconds_total Total user CPU time spent in seconds.\n# TYPE process_cpu_user_seconds_total counter\nprocess_cpu_user_seconds_total 0.7843070000000001\n\n# HELP process_cpu_system_seconds_total Total system CPU time spent in seconds.\n# TYPE process_cpu_system_seconds_total counter\nprocess_cpu_system_seconds_total 0.09115499999999999\n\n# HELP process_cpu_seconds_total Total user and system CPU time spent in seconds.\n# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 0.875462\n\n# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds 1795277417\n\n# HELP process_resident_memory_bytes Resident memory size in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 227000320\n\n# HELP process_virtual_memory_bytes Virtual memory size in bytes.\n# TYPE process_virtual_memory_bytes gauge\nprocess_virtual_memory_bytes 66502406144\n\n# HELP process_heap_bytes Process heap size in bytes.\n# TYPE process_heap_bytes gauge\nprocess_heap_bytes 312115200\n\n# HELP process_open_fds Number of open file descriptors.\n# TYPE process_open_fds gauge\nprocess_open_fds 53\n\n# HELP process_max_fds Maximum number of open file descriptors.\n# TYPE process_max_fds gauge\nprocess_max_fds 20000\n\n# HELP nodejs_eventloop_lag_seconds Lag of event loop in seconds.\n# TYPE nodejs_eventloop_lag_seconds gauge\nnodejs_eventloop_lag_seconds 0.001450249\n',
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
]

/** A message of the event stream of each type. */
export const events: readonly EventSample[] = [
  {
    type: 'connected',
    supportedChains: [31337, 4242],
    cursor: '-_qRPaN0.0',
  },
  {
    type: 'Deposited',
    chainId: 31337,
    orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
    user: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    solver: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
    inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
    inputAmount: '1000000000000000000',
    outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
    outputAmount: '2498750000',
    fillDeadline: 1795277842,
    blockNumber: 15,
    cursor: '-_qRPaN0.1',
  },
  {
    type: 'Refunded',
    chainId: 31337,
    orderId: '0x572c352bf19ed40165d23c6d2419694a746f94fce11367b4dc8c30d23656a06b',
    user: '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f',
    inputAmount: '281652687922813594615122067',
    bondSlashed: '3630',
    blockNumber: 16,
    cursor: '-_qRPaN0.2',
  },
  {
    type: 'Settled',
    chainId: 31337,
    orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
    blockNumber: 17,
    cursor: '-_qRPaN0.3',
  },
  {
    type: 'Reverted',
    chainId: 31337,
    orderId: '0x5950e8b98667952a1b6b37da8f8a51be899cd8a99e6311acf19c108be01b13da',
    event: 'Settled',
    blockNumber: 17,
    cursor: '-_qRPaN0.4',
  },
]
