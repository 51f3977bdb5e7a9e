import {
  clone,
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  setExtension,
} from '@bufbuild/protobuf'
import {
  type FieldDescriptorProto_Label,
  type FieldDescriptorProto_Type,
  FileDescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { OrderService } from '../../../gen/aggregator/v1/order_pb.js'
import { http } from '../../../gen/google/api/annotations_pb.js'
import { HttpRuleSchema } from '../../../gen/google/api/http_pb.js'

/** `OrderService.GetOrder` with another `google.api.http` option, or with none. */
export function methodWith(rule: MessageInitShape<typeof HttpRuleSchema> | undefined): DescMethod {
  const method: DescMethod = OrderService.method.getOrder
  const proto = clone(MethodDescriptorProtoSchema, method.proto)
  proto.options = create(MethodOptionsSchema)
  if (rule !== undefined) setExtension(proto.options, http, create(HttpRuleSchema, rule))
  return { ...method, proto }
}

interface FieldKind {
  readonly type: FieldDescriptorProto_Type
  readonly label: FieldDescriptorProto_Label
  /** Full name of the message or enum that the field holds. */
  readonly typeName?: string
  /** Whether the field is one of a `oneof`. */
  readonly isOneOf?: boolean
}

/** A message `sample.Holder` with the one field `sample_field`; it may hold a `sample.Empty`. */
export function messageWith({ isOneOf = false, ...kind }: FieldKind): DescMessage {
  const field = { name: 'sample_field', jsonName: 'sampleField', number: 1, ...kind }
  const file = create(FileDescriptorProtoSchema, {
    name: 'sample.proto',
    package: 'sample',
    syntax: 'proto3',
    messageType: [
      {
        name: 'Holder',
        field: [isOneOf ? { ...field, oneofIndex: 0 } : field],
        oneofDecl: isOneOf ? [{ name: 'choice' }] : [],
      },
      { name: 'Empty' },
    ],
  })
  const message = createFileRegistry(file, () => undefined).getMessage('sample.Holder')
  if (message === undefined) throw new Error('sample.Holder is not in its file')
  return message
}
