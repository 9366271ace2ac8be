// A Kafka broker for tests, in memory or, with -data, in a folder. Ends by itself when its standard input does.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port := flag.Int("port", 0, "port on the loopback address")
	topics := flag.String("topics", "", "topics and their partitions, as in orders:3,events:1")
	users := flag.String("users", "", "who may connect, as in PLAIN:ada:password,SCRAM-SHA-256:bob:password")
	data := flag.String("data", "", "folder in which records and offsets are kept")
	creates := flag.Bool("creates", false, "create topics that clients ask for")
	certificate := flag.String("certificate", "", "PEM file: speak TLS")
	key := flag.String("key", "", "PEM file")
	authority := flag.String("client-authority", "", "PEM file: ask clients for certificates of this authority")
	maxBytes := flag.Int("max-bytes", 0, "largest batch of records")
	flag.Parse()

	options := []kfake.Opt{kfake.NumBrokers(1), kfake.Ports(*port), kfake.GroupMinSessionTimeout(100 * time.Millisecond)}
	for _, topic := range split(*topics) {
		name, count, _ := strings.Cut(topic, ":")
		partitions, err := strconv.Atoi(count)
		must(err)
		options = append(options, kfake.SeedTopics(int32(partitions), name))
	}
	for _, user := range split(*users) {
		parts := strings.SplitN(user, ":", 3)
		options = append(options, kfake.Superuser(parts[0], parts[1], parts[2]))
	}
	if *users != "" {
		options = append(options, kfake.EnableSASL())
	}
	if *data != "" {
		options = append(options, kfake.DataDir(*data))
	}
	if *creates {
		options = append(options, kfake.AllowAutoTopicCreation())
	}
	if *maxBytes > 0 {
		options = append(options, kfake.BrokerConfigs(map[string]string{"message.max.bytes": strconv.Itoa(*maxBytes)}))
	}
	if *certificate != "" {
		pair, err := tls.LoadX509KeyPair(*certificate, *key)
		must(err)
		config := &tls.Config{Certificates: []tls.Certificate{pair}}
		if *authority != "" {
			pem, err := os.ReadFile(*authority)
			must(err)
			config.ClientCAs = x509.NewCertPool()
			config.ClientCAs.AppendCertsFromPEM(pem)
			config.ClientAuth = tls.RequireAndVerifyClientCert
		}
		options = append(options, kfake.TLS(config))
	}
	cluster, err := kfake.NewCluster(options...)
	must(err)
	fmt.Println("ready", strings.Join(cluster.ListenAddrs(), ","))
	io.Copy(io.Discard, os.Stdin)
	cluster.Close()
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
