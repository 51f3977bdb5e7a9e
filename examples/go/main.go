// Command quote asks an aggregator for a quote, follows its events for a while, and prints both, one line each.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/big"
	"time"

	"example/aggregator"

	"google.golang.org/grpc"
)

func main() {
	address := flag.String("address", "localhost:3000", "host and port of the aggregator")
	chainID := flag.Uint64("chain", 31337, "chain to trade on")
	inputToken := flag.String("input", "", "token to sell")
	outputToken := flag.String("output", "", "token to buy")
	amount := flag.String("amount", "1000000000000000000", "how much to sell, in the token's smallest unit")
	minOutput := flag.String("min-output", "1", "the least to take for it, from a source of your own")
	user := flag.String("user", "", "the user's wallet")
	events := flag.Int("events", 0, "how many order events to wait for")
	timeout := flag.Duration("timeout", time.Minute, "longest wait for all of it")
	flag.Parse()
	least, isNumber := new(big.Int).SetString(*minOutput, 10)
	if !isNumber {
		log.Fatal("-min-output must be an amount in the token's smallest unit")
	}

	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	connection, err := grpc.DialContext(ctx, *address, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()

	// The stream is opened first, so that it misses nothing of the order.
	stream, err := openStream(ctx, connection, *chainID)
	if err != nil {
		log.Fatal(err)
	}
	err = printQuote(ctx, connection, &aggregator.GetQuoteRequest{
		ChainId:            *chainID,
		InputToken:         *inputToken,
		OutputToken:        *outputToken,
		OrderType:          aggregator.OrderType_ORDER_TYPE_EXACT_INPUT,
		Amount:             *amount,
		UserAddress:        *user,
		OriginChainId:      *chainID,
		DestinationChainId: *chainID,
		DepositMode:        aggregator.DepositMode_DEPOSIT_MODE_CONTRACT,
	}, least)
	if err != nil {
		log.Fatal(err)
	}
	if err := printEvents(stream, *events); err != nil {
		log.Fatal(err)
	}
}

// openStream follows a chain's events, and waits for the first message, which says that the stream is open.
func openStream(
	ctx context.Context, connection *grpc.ClientConn, chainID uint64,
) (aggregator.EventService_StreamEventsClient, error) {
	stream, err := aggregator.NewEventServiceClient(connection).StreamEvents(
		ctx, &aggregator.StreamEventsRequest{ChainId: []uint64{chainID}})
	if err != nil {
		return nil, err
	}
	message, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	fmt.Println("connected", message.GetConnected().GetSupportedChains())
	return stream, nil
}

// printQuote refuses an offer beyond the caller's limit: an aggregator may offer anything. The deposit address of an offer may be
// paid only for a request with DEPOSIT_MODE_ADDRESS.
func printQuote(
	ctx context.Context, connection *grpc.ClientConn, ask *aggregator.GetQuoteRequest, least *big.Int,
) error {
	answer, err := aggregator.NewQuoteServiceClient(connection).GetQuote(ctx, ask)
	if err != nil {
		return err
	}
	output, isOutput := new(big.Int).SetString(answer.GetQuote().GetOutputAmount(), 10)
	if !isOutput || output.Cmp(least) < 0 || answer.GetQuote().GetInputAmount() != ask.GetAmount() {
		return fmt.Errorf("the best offer is beyond the limit: %s for %s",
			answer.GetQuote().GetOutputAmount(), answer.GetQuote().GetInputAmount())
	}
	fmt.Println("quote", answer.GetQuote().GetOutputAmount(), answer.GetOrderId())
	for _, other := range answer.GetAlternativeQuotes() {
		fmt.Println("alternative", other.GetQuote().GetOutputAmount(), other.GetOrderId())
	}
	return nil
}

func printEvents(stream aggregator.EventService_StreamEventsClient, count int) error {
	for seen := 0; seen < count; {
		message, err := stream.Recv()
		if err != nil {
			return err
		}
		switch event := message.GetEvent().(type) {
		case *aggregator.StreamEventsResponse_Deposited:
			fmt.Println("Deposited", event.Deposited.GetOrderId(), event.Deposited.GetInputAmount())
		case *aggregator.StreamEventsResponse_Settled:
			fmt.Println("Settled", event.Settled.GetOrderId())
		case *aggregator.StreamEventsResponse_Refunded:
			fmt.Println("Refunded", event.Refunded.GetOrderId(), event.Refunded.GetInputAmount())
		case *aggregator.StreamEventsResponse_Reverted:
			fmt.Println("Reverted", event.Reverted.GetOrderId(), event.Reverted.GetEvent())
		default: // A heartbeat.
			continue
		}
		seen++
	}
	return nil
}
