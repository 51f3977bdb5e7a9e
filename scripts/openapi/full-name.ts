import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescMessage,
  DescMethod,
  DescService,
} from '@bufbuild/protobuf'

/** A descriptor that has a comment in the protos. */
export type Described = DescMessage | DescField | DescEnum | DescEnumValue | DescService | DescMethod

/** `package.Message`, `package.Message.field` and so on; the name of an enum's value begins with the enum's name. */
export function fullName(descriptor: Described): string {
  return 'typeName' in descriptor ? descriptor.typeName : `${descriptor.parent.typeName}.${descriptor.name}`
}
