// OpenTelemetry's own receiver of OTLP over HTTP, which prints a line of JSON for each span: a whole collector takes ten
// minutes to build.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func printSpans(_ context.Context, traces ptrace.Traces) error {
	lines := json.NewEncoder(os.Stdout)
	for _, resource := range traces.ResourceSpans().All() {
		attributes := resource.Resource().Attributes().AsRaw()
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				line := map[string]any{"trace": span.TraceID().String(), "name": span.Name()}
				line["service"], line["instance"] = attributes["service.name"], attributes["service.instance.id"]
				if err := lines.Encode(line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func main() {
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	http := map[string]any{"endpoint": "0.0.0.0:4318"}
	settings := confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": http}})
	if err := settings.Unmarshal(config); err != nil {
		log.Fatal(err)
	}
	spans, err := consumer.NewTraces(printSpans)
	if err != nil {
		log.Fatal(err)
	}
	receiver, err := factory.CreateTraces(context.Background(), receivertest.NewNopSettings(factory.Type()), config, spans)
	if err != nil {
		log.Fatal(err)
	}
	if err := receiver.Start(context.Background(), componenttest.NewNopHost()); err != nil {
		log.Fatal(err)
	}
	select {}
}
